import { randomBytes } from "node:crypto";
import { readMonotonic } from "../../base/monotonic.ts";
import { failStart, notStarted } from "../child/answers.ts";
import { createBoot } from "./boot.ts";
import type { Failed } from "../child/answers.ts";
import type { Boot, BootFailure } from "./boot.ts";
import type { ExitEvent, ZygoteEvent } from "../wire/control-messages.ts";
import { createDeferred } from "../../base/deferred.ts";
import type { Deferred } from "../../base/deferred.ts";
import type { Execution } from "../child/execution.ts";
import { TOKEN_LENGTH } from "../wire/home-socket.ts";
import type { Connections } from "../wire/home-socket.ts";
import type { PoolHost } from "./pool-host.ts";
import type { NotStarted } from "../port/runtime.ts";

const SIGKILL = 9;
const SECOND = 1000;
/** Of a child that failed before user code could: it could not prepare itself (70) or could not be executed (71). */
const OWN_EXIT_CODES: ReadonlySet<number> = new Set([70, 71]);
/** A sequential caller takes one while the other is being made. */
const MIN_TARGET = 2;
const SPAWN_TARGET = 1;
/** A zygote that dies this often without one child getting ready is not booted again for those who wait. */
const MAX_FRUITLESS_BOOTS = 3;

interface Child {
  readonly id: number;
  readonly token: string;
  readonly orderedAt: number;
  /** Killed because it did not get ready in time. */
  late: boolean;
  exit: ExitEvent | null;
  lines: Connections | null;
  execution: Execution | null;
}

/**
 * The zygote of one version and its children.
 *
 * cold: no process. booting: orders wait in the control line. warm: children come and go. A zygote that ends takes the
 * pool back to cold; executions that were handed over are lost, those still queued boot the next one.
 * Each child serves one execution and is never used again. Refilling waits until an answer is there (it would compete
 * with the function for the processor: p95 4.2 against 1.6 ms on 2 cores), unless no child is left.
 */
export interface VersionPool {
  readonly submit: (execution: Execution) => void;
  /** Takes an execution out of the queue: it was cancelled before it began. */
  readonly withdraw: (execution: Execution) => void;
  readonly hasZygote: () => boolean;
  readonly isBusy: () => boolean;
  readonly lastUsed: () => number;
  /** Called about every second: ends what idles and what does not get ready. */
  readonly tick: (now: number) => void;
  /** Ends the zygote once nothing runs; resolves when it is gone. */
  readonly retire: () => Promise<void>;
  /** Ends the zygote now. */
  readonly close: () => Promise<void>;
}

export function createVersionPool(host: PoolHost): VersionPool {
  const { settings } = host;
  const { logger } = host;
  const queue = new Set<Execution>();
  const children = new Map<number, Child>();
  const idle: Child[] = [];
  let boot: Boot | null = null;
  let startMode = host.version.startMode;
  let sequence = 0;
  let peak = 0;
  let fruitlessBoots = 0;
  let lastUsed = readMonotonic();
  /** The project's own fault only: what was ours may be over at the next try. */
  let failure: (BootFailure & { readonly until: number }) | null = null;
  let retiring: Deferred<undefined> | null = null;
  let closing = false;

  function countStarting(): number {
    let starting = 0;
    for (const child of children.values()) if (child.lines === null) starting += 1;
    return starting;
  }

  function countRunning(): number {
    let running = 0;
    for (const child of children.values()) if (child.execution !== null) running += 1;
    return running;
  }

  function orderChildren(count: number): void {
    for (let index = 0; index < count; index += 1) {
      const child: Child = {
        id: (sequence += 1),
        token: randomBytes(TOKEN_LENGTH / 2).toString("hex"),
        orderedAt: readMonotonic(),
        late: false,
        exit: null,
        lines: null,
        execution: null,
      };
      children.set(child.id, child);
      boot?.order(child.id, child.token, (lines) => onReady(child, lines));
    }
  }

  function orderForQueue(): void {
    if (closing || queue.size === 0) return;
    if (boot === null) startBoot();
    orderChildren(Math.max(0, queue.size - countStarting()));
  }

  function refill(): void {
    if (boot === null || closing || retiring !== null) return;
    const target =
      startMode === "spawn" ? SPAWN_TARGET : Math.min(settings.slots, Math.max(MIN_TARGET, peak));
    orderChildren(Math.max(0, target + queue.size - idle.length - countStarting()));
  }

  function startBoot(): void {
    const started: Boot = createBoot({
      ...host,
      startMode,
      onEvent: (event) => onEvent(event),
      onClosed: (description) => onClosed(started, description),
    });
    boot = started;
  }

  function onReady(child: Child, lines: Connections): void {
    if (!children.has(child.id)) return;
    child.lines = lines;
    fruitlessBoots = 0;
    const [next] = queue;
    if (next === undefined) idle.push(child);
    else handOver(next, child, lines);
  }

  function handOver(execution: Execution, child: Child, lines: Connections): void {
    queue.delete(execution);
    child.execution = execution;
    peak = Math.max(peak, countRunning());
    execution.handOver(lines, {
      signal: (signal) => boot?.kill(child.id, signal),
      onAnswered: refill,
      onStuck: () => {
        logger.warn(
          { versionId: host.version.id, executionId: execution.request.executionId },
          "processes of an execution do not end: the whole sandbox is killed",
        );
        boot?.killSandbox();
      },
    });
    if (idle.length === 0 && countStarting() === 0) refill();
  }

  function takeIdle(): Child | undefined {
    return idle.pop();
  }

  function submit(execution: Execution): void {
    lastUsed = readMonotonic();
    if (failure !== null && lastUsed < failure.until) return execution.refuse(failure.outcome, failure.lines);
    failure = null;
    const child = takeIdle();
    if (child !== undefined && child.lines !== null) return handOver(execution, child, child.lines);
    queue.add(execution);
    orderForQueue();
  }

  function onEvent(event: ZygoteEvent): void {
    if (event.event === "unsafe") {
      startMode = "spawn";
      logger.info(
        { versionId: host.version.id, reason: event.reason },
        "each execution of this version starts a fresh interpreter",
      );
    }
    if (event.event === "ready" && event.mode === "fork") refill();
    if (event.event !== "exit" && event.event !== "gone" && event.event !== "refused") return;
    const child = children.get(event.id);
    if (child === undefined) return;
    if (event.event === "exit") return onExit(child, event);
    if (event.event === "refused") onRefused(child, event.reason);
    else onGone(child);
  }

  function onExit(child: Child, exit: ExitEvent): void {
    child.exit = exit;
    removeIdle(child);
    child.execution?.onExit(exit);
  }

  /** User code may have written the event (it shares a process with the zygote): a child that has called was not refused. */
  function onRefused(child: Child, reason: string): void {
    if (child.lines !== null) return;
    children.delete(child.id);
    onStartFailed(child, notStarted("version", `The system refused a process: ${reason}`));
  }

  /** Not believed before its exit: an execution that nobody watches any more would have no time limit and never end. */
  function onGone(child: Child): void {
    if (child.exit === null) return;
    children.delete(child.id);
    if (child.execution !== null) child.execution.onGone();
    else if (child.lines === null) onStartFailed(child, describeStartFailure(child));
    lastUsed = readMonotonic();
    finishRetiring();
  }

  /** A child that ended before it was ready: who waits first hears it, otherwise it would be tried without end. */
  function onStartFailed(child: Child, outcome: Failed | NotStarted): void {
    boot?.forget(child.token);
    const [next] = queue;
    if (next === undefined) return;
    queue.delete(next);
    next.refuse(outcome);
    orderForQueue();
  }

  /** Only a spawned child runs code of the project before it is ready: the import. */
  function describeStartFailure({ late, exit }: Child): Failed | NotStarted {
    const code = exit?.code ?? null;
    const isImport = startMode === "spawn" && (code === null || !OWN_EXIT_CODES.has(code));
    const limit = `${settings.bootMs / SECOND} s`;
    if (isImport)
      return failStart(
        late
          ? `The import of src/program.py took longer than ${limit}`
          : "The process ended while it was starting; user code may have ended it at import",
      );
    return notStarted(
      "version",
      late ? `A process was not ready within ${limit}` : "A process ended before it was ready",
    );
  }

  function removeIdle(child: Child): void {
    const index = idle.indexOf(child);
    if (index >= 0) idle.splice(index, 1);
  }

  function onClosed(ended: Boot, description: string): void {
    if (boot !== ended) return;
    boot = null;
    const died = [...children.values()];
    children.clear();
    idle.length = 0;
    for (const child of died)
      child.execution?.onLost(
        closing
          ? "The worker was stopped while the execution ran"
          : `The worker's process ${description} while the execution ran`,
      );
    const found = ended.failure();
    failure =
      found?.outcome.status === "FAILED" ? { ...found, until: readMonotonic() + settings.failureMs } : null;
    if (found?.outcome.status === "NOT_STARTED")
      logger.error(
        { versionId: host.version.id, reason: found.outcome.detail },
        "a zygote could not be started",
      );
    finishRetiring();
    continueQueue(found);
  }

  function continueQueue(found: BootFailure | null): void {
    fruitlessBoots += 1;
    if (found !== null) return refuseQueue(found.outcome, found.lines);
    if (fruitlessBoots > MAX_FRUITLESS_BOOTS) {
      fruitlessBoots = 0;
      return refuseQueue(notStarted("version", "The zygote ends again and again before a child is ready"));
    }
    orderForQueue();
  }

  function refuseQueue(outcome: Failed | NotStarted, lines: BootFailure["lines"] = []): void {
    for (const execution of queue) execution.refuse(outcome, lines);
    queue.clear();
  }

  function finishRetiring(): void {
    if (retiring === null || queue.size > 0 || countRunning() > 0) return;
    if (boot === null) retiring.resolve(undefined);
    else boot.stop();
  }

  /** A zygote that does not even end a child is stuck itself (a hook of user code, say): nothing would ever start again. */
  function endLate(child: Child, lateMs: number): void {
    if (child.lines !== null || boot?.isReady() !== true || lateMs <= 0) return;
    child.late = true;
    boot.kill(child.id, SIGKILL);
    if (lateMs <= settings.confirmMs) return;
    logger.warn({ versionId: host.version.id }, "a zygote does not answer: the whole sandbox is killed");
    boot.killSandbox();
  }

  function tick(now: number): void {
    for (const child of children.values()) endLate(child, now - child.orderedAt - settings.bootMs);
    if (queue.size > 0 || countRunning() > 0) return;
    if (now - lastUsed > settings.idleMs) {
      peak = 0;
      for (const child of idle.splice(0)) child.lines?.control.destroy();
    }
    if (now - lastUsed > settings.zygoteIdleMs) boot?.stop();
  }

  return {
    submit,
    withdraw: (execution) => {
      queue.delete(execution);
      finishRetiring();
    },
    hasZygote: () => boot !== null,
    isBusy: () => queue.size > 0 || countRunning() > 0,
    lastUsed: () => lastUsed,
    tick,
    retire: async () => {
      const gone = (retiring ??= createDeferred<undefined>());
      finishRetiring();
      await gone.promise;
    },
    close: async () => {
      closing = true;
      const current = boot;
      refuseQueue(notStarted("worker", "The worker was stopped before the execution began."));
      current?.stop();
      await current?.closed;
    },
  };
}
