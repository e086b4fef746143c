import type { ZygoteEvent } from "./control-lines.ts";
import type { Lines } from "./home-socket.ts";
import type { LogLine } from "./runtime.ts";
import type { PoolHost } from "./pool-host.ts";
import type { Zygote } from "./zygote.ts";

/** Why a version cannot run: what each execution of it is told. */
export interface BootFailure {
  readonly code: string;
  readonly detail: string;
  /** What was printed until then, and the traceback. */
  readonly lines: readonly LogLine[];
}

/** A zygote from its start to its end, also while it is not there yet: orders wait until it is. */
export interface Boot {
  readonly order: (id: number, token: string, onReady: (lines: Lines) => void) => void;
  readonly forget: (token: string) => void;
  readonly kill: (id: number, signal: 9 | 15) => void;
  readonly killSandbox: () => void;
  readonly stop: () => void;
  readonly isReady: () => boolean;
  /** Known when it has ended: null when it had got ready, or has to be booted again in another mode. */
  readonly failure: () => BootFailure | null;
  readonly closed: Promise<void>;
}

export interface BootOptions extends PoolHost {
  readonly startMode: "auto" | "spawn";
  readonly onEvent: (event: ZygoteEvent) => void;
  readonly onClosed: (told: string) => void;
}

const STARTUP_ERROR = "STARTUP_ERROR";

export function createBoot(options: BootOptions): Boot {
  let zygote: Zygote | null = null;
  let waiting: Array<(zygote: Zygote) => void> = [];
  let stage: "starting" | "importing" | "ready" | "unsafe" | "stopped" = "starting";
  let failure: BootFailure | null = null;
  let lines: LogLine[] = [];

  function whenStarted(action: (zygote: Zygote) => void): void {
    if (zygote === null) waiting.push(action);
    else action(zygote);
  }

  function onEvent(event: ZygoteEvent): void {
    if (event.event === "hello") stage = "importing";
    if (event.event === "unsafe") stage = "unsafe";
    if (event.event === "failed")
      failure = { code: event.code, detail: event.detail, lines: toErrorLines(event.traceback) };
    if (event.event === "ready") {
      stage = "ready";
      lines = [];
    }
    options.onEvent(event);
  }

  function onOutput(printed: readonly LogLine[]): void {
    if (stage !== "ready") lines.push(...printed);
    else
      for (const line of printed)
        options.logger.warn({ versionId: options.version.id, output: line.message }, "output of a zygote");
  }

  function describeFailure(told: string): BootFailure | null {
    if (failure !== null) return { ...failure, lines: [...lines, ...failure.lines] };
    if (stage === "importing")
      return { code: STARTUP_ERROR, detail: `The process ${told} while it imported src/program.py`, lines };
    const printed = lines.map((line) => line.message).join("; ");
    if (stage === "starting")
      return {
        code: STARTUP_ERROR,
        detail: `The process of the version could not be started, it ${told}${printed ? `: ${printed}` : ""}`,
        lines,
      };
    return null;
  }

  function onTimeout(): void {
    failure = {
      code: STARTUP_ERROR,
      detail: `The import of src/program.py took longer than ${options.settings.bootMs / 1000} s`,
      lines: [],
    };
    whenStarted((started) => started.kill());
  }

  async function live(): Promise<void> {
    let told = "could not be started";
    const limit = setTimeout(() => {
      if (stage === "starting" || stage === "importing") onTimeout();
    }, options.settings.bootMs);
    try {
      const started = await options.startZygote({
        version: options.version,
        startMode: options.startMode,
        probe: false,
        onEvent,
        onOutput,
      });
      zygote = started;
      for (const action of waiting) action(started);
      waiting = [];
      told = await started.closed;
    } catch (error) {
      lines.push(...toErrorLines(error instanceof Error ? error.message : String(error)));
    }
    clearTimeout(limit);
    failure = describeFailure(told);
    options.onClosed(told);
  }

  return {
    order: (id, token, onReady) =>
      whenStarted((started) => {
        started.home.expect(token, onReady);
        started.send({ order: "fork", id, token });
      }),
    forget: (token) => zygote?.home.forget(token),
    kill: (id, signal) => whenStarted((started) => started.send({ order: "kill", id, signal })),
    killSandbox: () => whenStarted((started) => started.kill()),
    stop: () => {
      if (stage !== "ready") stage = "stopped";
      whenStarted((started) => started.stop());
    },
    isReady: () => stage === "ready",
    failure: () => failure,
    closed: live(),
  };
}

function toErrorLines(text: string | null): LogLine[] {
  const time = Date.now();
  return (text ?? "")
    .split("\n")
    .filter(Boolean)
    .map((message) => ({ time, severity: "ERROR", message }));
}
