import type { ProjectKind } from "@platform/contract/project";
import type { ZygoteEvent } from "./wire/control-messages.ts";
import type { LogLine, Probe, PythonRuntime, RunnableVersion } from "./port/runtime.ts";
import type { PoolHost } from "./pool/boot.ts";
import { SECOND } from "../base/time.ts";
import { createTimers } from "../base/timers.ts";
import { failStart } from "./child/answers.ts";
import type { Failed } from "./child/answers.ts";
import { describeEndedImport, describeEndedInterpreter, describeSlowImport } from "./pool/start-failure.ts";
import { startZygote } from "./pool/zygote.ts";
import type { Zygote, ZygoteEnd } from "./pool/zygote.ts";

const MAX_REASON_LENGTH = 500;

/** Until the zygote says hello, nothing of the project is known to have run. */
type Stage = "starting" | "importing";

/** The probes of one runtime. */
interface Probes {
  readonly probe: PythonRuntime["probe"];
  /** Ends those that are under way; resolves when their processes have ended. */
  readonly close: () => Promise<void>;
}

/** None is under way at first. */
export function createProbes(host: PoolHost): Probes {
  const running = new Set<Promise<Probe>>();
  const closing = new AbortController();
  return {
    probe: async (version, kind = "service", signal = closing.signal) => {
      const either = AbortSignal.any([signal, closing.signal]);
      const probing = probeVersion(host, { version, kind, signal: either });
      running.add(probing);
      try {
        return await probing;
      } finally {
        running.delete(probing);
      }
    },
    close: async () => {
      closing.abort(new Error("The version is not probed any more: this process is being stopped."));
      await Promise.allSettled(running);
    },
  };
}

/** What is inspected, and until when. */
interface ProbeOptions {
  readonly version: RunnableVersion;
  readonly kind: ProjectKind;
  /** Aborted: its processes are killed. */
  readonly signal: AbortSignal;
}

/**
 * Boots a version only to inspect it: no process is left running. Takes no longer than both limits together.
 *
 * @throws Error when no process could be started; the project is then not the cause. The reason of the signal
 */
async function probeVersion(host: PoolHost, { version, kind, signal }: ProbeOptions): Promise<Probe> {
  const { helloMs, bootMs } = host.settings;
  let found: Probe | null = null;
  let stage: Stage = "starting";
  let zygote: Zygote | null = null;
  const printed: LogLine[] = [];
  const timers = createTimers<"limit">();

  function limit(milliseconds: number, failure: Failed): void {
    timers.set("limit", milliseconds, () => {
      found ??= toProbe(failure, null);
      zygote?.kill();
    });
  }

  function onEvent(event: ZygoteEvent): void {
    if (event.event === "hello" && stage === "starting") {
      stage = "importing";
      limit(bootMs, describeSlowImport(host.settings));
    }
    found ??= readProbe(event);
    if (found !== null) zygote?.stop();
  }

  const onOutput = (lines: readonly LogLine[]): void => void printed.push(...lines);
  const onAbort = (): void => zygote?.kill();
  signal.throwIfAborted();
  signal.addEventListener("abort", onAbort);
  try {
    zygote = await startZygote(host, {
      version,
      startMode: version.startMode,
      probe: kind,
      maxChildren: 0,
      onEvent,
      onOutput,
    });
    if (signal.aborted) onAbort();
    if (stage === "starting")
      limit(helloMs, failStart(`The interpreter did not begin within ${helloMs / SECOND} s.`));
    const end = await zygote.closed;
    signal.throwIfAborted();
    return found ?? describeEnd(end, stage, printed);
  } finally {
    signal.removeEventListener("abort", onAbort);
    timers.clear("limit");
  }
}

/** The first of these events is the result. */
function readProbe(event: ZygoteEvent): Probe | null {
  if (event.event === "failed")
    return { ok: false, code: event.code, detail: event.detail, traceback: event.traceback };
  if (event.event !== "probed") return null;
  return {
    ok: true,
    inputSchema: event.input,
    outputSchema: event.output,
    description: event.description,
    startMode: event.mode,
    startModeReason: event.reason === null ? null : readReason(event.reason),
  };
}

/** The result for a zygote that ended without reporting one. */
function describeEnd(
  { description, hasBegun, excess }: ZygoteEnd,
  stage: Stage,
  printed: readonly LogLine[],
): Probe {
  const output = printed.map((line) => line.message).join("\n");
  if (stage === "starting" && !hasBegun)
    throw new Error(`the sandbox of the version ${description}${output === "" ? "" : `: ${output}`}`);
  const describe = stage === "importing" ? describeEndedImport : describeEndedInterpreter;
  return toProbe(excess ?? describe(description), output || null);
}

function toProbe({ code, detail }: Failed, traceback: string | null): Probe {
  return { ok: false, code, detail, traceback };
}

/** The text comes from a process that runs user code, and is shown on a terminal. */
function readReason(reason: string): string {
  return reason.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, "\u{FFFD}").slice(0, MAX_REASON_LENGTH);
}
