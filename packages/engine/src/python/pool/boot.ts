import { fail, failStart, notStarted } from "../child/answers.ts";
import type { Failed } from "../child/answers.ts";
import type { ZygoteEvent } from "../wire/control-messages.ts";
import type { Connections } from "../wire/home-socket.ts";
import { createLogBudget, createLogSplitter } from "../child/log-splitter.ts";
import type { LogLine, NotStarted } from "../port/runtime.ts";
import type { PoolHost } from "./pool-host.ts";
import { createTimers } from "../../base/timers.ts";
import { BOOT_LINE_BYTES, BOOT_LOG_BYTES } from "./zygote.ts";
import type { Zygote, ZygoteEnd } from "./zygote.ts";

/** Why no child came of it, and what each execution that waits ends with. */
export interface BootFailure {
  /** FAILED: the project cannot be started anywhere. NOT_STARTED: the project is not known to be at fault. */
  readonly outcome: Failed | NotStarted;
  /** For the log of an execution: what user code printed until then, and the traceback. */
  readonly lines: readonly LogLine[];
}

/** A zygote from its start to its end, also while it is not there yet: orders wait until it is. */
export interface Boot {
  readonly order: (id: number, token: string, onReady: (lines: Connections) => void) => void;
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
  /** @param description how its process ended, as a clause */
  readonly onClosed: (description: string) => void;
}

export function createBoot(options: BootOptions): Boot {
  let zygote: Zygote | null = null;
  let waiting: Array<(zygote: Zygote) => void> = [];
  let stage: "starting" | "importing" | "ready" | "unsafe" | "stopped" = "starting";
  let failure: BootFailure | null = null;
  let lines: LogLine[] = [];
  const timers = createTimers<"limit">();

  function whenStarted(action: (zygote: Zygote) => void): void {
    if (zygote === null) waiting.push(action);
    else action(zygote);
  }

  function onEvent(event: ZygoteEvent): void {
    if (event.event === "hello" && stage === "starting") {
      stage = "importing";
      limit(options.settings.bootMs);
    }
    if (event.event === "failed")
      failure = { outcome: fail(event.code, event.detail), lines: toErrorLines(event.traceback) };
    if (event.event === "unsafe" || event.event === "ready") {
      // Once: user code that shares the process may write such lines without end.
      if (stage !== "importing") return;
      stage = event.event;
    }
    if (event.event === "ready") lines = [];
    if (event.event === "unsafe") whenStarted((started) => started.stop());
    options.onEvent(event);
  }

  function onOutput(printed: readonly LogLine[]): void {
    if (stage !== "ready") lines.push(...printed);
    else
      for (const line of printed)
        options.logger.warn({ versionId: options.version.id, output: line.message }, "output of a zygote");
  }

  /** Before the zygote's first word only its environment can be the project's fault (a start-up hook that ends it). */
  async function describeFailure({ description, hasBegun }: ZygoteEnd): Promise<BootFailure | null> {
    if (failure !== null) return { ...failure, lines: [...lines, ...failure.lines] };
    if (stage === "importing")
      return { outcome: failStart(`The process ${description} while it imported src/program.py`), lines };
    if (stage !== "starting") return null;
    if (hasBegun)
      return {
        outcome: failStart(`The interpreter ${description} before it could import src/program.py`),
        lines,
      };
    const printed = lines.map((line) => line.message).join("; ");
    const reason = printed === "" ? description : `${description}: ${printed}`;
    // What the version brings along may be why (its interpreter is a file of its environment): an empty sandbox shows it.
    const fault = await options.findSandboxFault();
    const outcome =
      fault === null
        ? notStarted("version", `The sandbox of the version ${reason}`)
        : notStarted("worker", `No sandbox works on this machine: ${fault}`);
    return { outcome, lines: [] };
  }

  function onTimeout(): void {
    const { bootMs, helloMs } = options.settings;
    const outcome =
      stage === "importing"
        ? failStart(`The import of src/program.py took longer than ${bootMs / 1000} s`)
        : notStarted("version", `The process of the version did not answer within ${helloMs / 1000} s`);
    failure = { outcome, lines: [] };
    whenStarted((started) => started.kill());
  }

  function limit(milliseconds: number): void {
    timers.set("limit", milliseconds, () => {
      if (stage === "starting" || stage === "importing") onTimeout();
    });
  }

  async function live(): Promise<void> {
    let end: ZygoteEnd = { description: "could not be started", hasBegun: false };
    limit(options.settings.helloMs);
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
      end = await started.closed;
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      failure = { outcome: notStarted("worker", `No process could be started: ${reason}`), lines: [] };
    }
    timers.clear("limit");
    failure = await describeFailure(end);
    options.onClosed(end.description);
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

/** Bounded: each execution that waits is given them all. */
function toErrorLines(text: string | null): readonly LogLine[] {
  const budget = createLogBudget(BOOT_LOG_BYTES);
  const options = { severity: "ERROR", lineBytes: BOOT_LINE_BYTES, budget, now: Date.now } as const;
  const splitter = createLogSplitter(options);
  const { lines } = splitter.split(Buffer.from(text ?? ""), Infinity);
  return [...lines, ...splitter.end().lines].filter(({ message }) => message !== "");
}
