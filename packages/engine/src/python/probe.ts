import type { ZygoteEvent } from "./wire/control-messages.ts";
import type { LogLine, Probe, RunnableVersion } from "./port/runtime.ts";
import type { PoolHost } from "./pool/pool-host.ts";
import type { Settings } from "./port/settings.ts";
import { createTimers } from "../base/timers.ts";
import type { Zygote, ZygoteEnd } from "./pool/zygote.ts";

const STARTUP_ERROR = "STARTUP_ERROR";
const MAX_REASON_LENGTH = 500;

/**
 * Boots a version only to look at it: nothing of it is left running. Never longer than both limits together.
 *
 * @throws Error when no process could be started: the project is not at fault
 */
export async function probeVersion(
  version: RunnableVersion,
  startZygote: PoolHost["startZygote"],
  { helloMs, bootMs }: Pick<Settings, "helloMs" | "bootMs">,
): Promise<Probe> {
  let found: Probe | null = null;
  const printed: LogLine[] = [];
  let greeted = false;

  function onEvent(event: ZygoteEvent): void {
    if (event.event === "hello" && !greeted) {
      greeted = true;
      limit(bootMs, `The import of src/program.py took longer than ${bootMs / 1000} s`);
    }
    if (event.event === "probed")
      found ??= {
        ok: true,
        inputSchema: event.input,
        outputSchema: event.output,
        startMode: event.mode,
        startModeReason: event.reason === null ? null : readReason(event.reason),
      };
    if (event.event === "failed")
      found ??= { ok: false, code: event.code, detail: event.detail, traceback: event.traceback };
  }

  function describeEnd({ description, hasBegun }: ZygoteEnd): Probe {
    const output = printed.map((line) => line.message).join("\n");
    if (!greeted && !hasBegun)
      throw new Error(`the sandbox of the version ${description}${output === "" ? "" : `: ${output}`}`);
    const doing = greeted ? "while it imported src/program.py" : "before it could import src/program.py";
    return {
      ok: false,
      code: STARTUP_ERROR,
      detail: `The process ${description} ${doing}`,
      traceback: output || null,
    };
  }

  let zygote: Zygote | null = null;
  const timers = createTimers<"limit">();
  function limit(milliseconds: number, detail: string): void {
    timers.set("limit", milliseconds, () => {
      found ??= { ok: false, code: STARTUP_ERROR, detail, traceback: null };
      zygote?.kill();
    });
  }

  try {
    zygote = await startZygote({
      version,
      startMode: version.startMode,
      probe: true,
      onEvent,
      onOutput: (lines) => void printed.push(...lines),
    });
    if (!greeted) limit(helloMs, `The interpreter did not begin within ${helloMs / 1000} s`);
    const end = await zygote.closed;
    return found ?? describeEnd(end);
  } finally {
    timers.clear("limit");
  }
}

/** It came through user code's process, and goes to a terminal. */
function readReason(reason: string): string {
  return reason.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, "\u{FFFD}").slice(0, MAX_REASON_LENGTH);
}
