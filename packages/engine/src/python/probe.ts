import type { ZygoteEvent } from "./control-lines.ts";
import type { LogLine, Probe, RunnableVersion } from "./runtime.ts";
import type { PoolHost } from "./pool-host.ts";
import type { ZygoteEnd } from "./zygote.ts";

const STARTUP_ERROR = "STARTUP_ERROR";
const MAX_REASON_LENGTH = 500;

/**
 * Boots a version only to look at it: nothing of it is left running. Never longer than `limitMs`.
 *
 * @throws Error when no process could be started: the project is not at fault
 */
export async function probeVersion(
  version: RunnableVersion,
  startZygote: PoolHost["startZygote"],
  limitMs: number,
): Promise<Probe> {
  let found: Probe | null = null;
  const printed: LogLine[] = [];
  let greeted = false;

  function onEvent(event: ZygoteEvent): void {
    if (event.event === "hello") greeted = true;
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

  let limit: NodeJS.Timeout | undefined;
  try {
    const zygote = await startZygote({
      version,
      startMode: version.startMode,
      probe: true,
      onEvent,
      onOutput: (lines) => void printed.push(...lines),
    });
    limit = setTimeout(() => {
      found ??= {
        ok: false,
        code: STARTUP_ERROR,
        detail: `The import of src/program.py took longer than ${limitMs / 1000} s`,
        traceback: null,
      };
      zygote.kill();
    }, limitMs);
    const end = await zygote.closed;
    return found ?? describeEnd(end);
  } finally {
    clearTimeout(limit);
  }
}

/** It came through user code's process, and goes to a terminal. */
function readReason(reason: string): string {
  return reason.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, "\u{FFFD}").slice(0, MAX_REASON_LENGTH);
}
