import { canServe } from "./pool-state.ts";
import type { Child, ChildStage, PoolEffect, PoolState, Ticket } from "./pool-state.ts";
import type { BootFailure } from "./start-failure.ts";

/** One step of the pool's machine in progress: each rule sees the changes of the previous ones. */
export interface Turn {
  state: PoolState;
  readonly effects: PoolEffect[];
  /** Monotonic milliseconds. */
  readonly now: number;
}

/** Replaces fields of the state; the state itself is never mutated. */
export function set(turn: Turn, changes: Partial<PoolState>): void {
  turn.state = { ...turn.state, ...changes };
}

/** Puts a child into another stage. It keeps its id and the time of its order. */
export function move(turn: Turn, { id, orderedAt }: Child, stage: ChildStage): void {
  const moved: Child = { id, orderedAt, ...stage };
  set(turn, { children: turn.state.children.map((child) => (child.id === id ? moved : child)) });
}

/** Forgets a child of which no process is left. */
export function remove(turn: Turn, { id }: Child): void {
  set(turn, { children: turn.state.children.filter((child) => child.id !== id) });
}

/** Ends a child that was given no execution: it ends by itself when its connections close. */
export function disconnect(turn: Turn, child: Child): void {
  move(turn, child, { stage: "unused" });
  turn.effects.push({ type: "disconnect", child: child.id });
}

/** Orders this many children, or as many as can exist beside the present ones; none when `count` is 0 or negative. */
export function order(turn: Turn, count: number): void {
  const { maxChildren, children } = turn.state;
  const room = Math.min(count, maxChildren - children.length);
  for (let index = 0; index < room; index += 1) {
    const child: Child = { id: turn.state.lastChild + 1, orderedAt: turn.now, stage: "ordered" };
    set(turn, { lastChild: child.id, children: [...turn.state.children, child] });
    turn.effects.push({ type: "order", order: { order: "fork", id: child.id } });
  }
}

/** What is kept for a child that has no execution is not needed any more. */
export function forget(turn: Turn, { id }: Child): void {
  if (canServe(turn.state.phase)) turn.effects.push({ type: "order", order: { order: "forget", id } });
}

/** Starts a zygote. There must be none. */
export function boot(turn: Turn): void {
  set(turn, { phase: { name: "booting" }, barred: null });
  turn.effects.push({ type: "boot", startMode: turn.state.startMode });
}

/** Ends the zygote: `stop` lets it exit, `kill` ends the sandbox at once. Does nothing when there is none or it is ending. */
export function endZygote(turn: Turn, order: "stop" | "kill"): void {
  if (!canServe(turn.state.phase)) return;
  set(turn, { phase: { name: "ending" } });
  turn.effects.push({ type: "order", order: { order } });
}

/** Ends an execution that was never handed over. The caller removes it from the queue. */
export function refuse(turn: Turn, execution: Ticket, { outcome, lines }: BootFailure): void {
  turn.effects.push({ type: "refuse", execution, outcome, lines });
}

/** Refuses all waiting executions, and counts zygotes that end without a child from 0 again. */
export function refuseQueue(turn: Turn, failure: BootFailure): void {
  for (const execution of turn.state.queue) refuse(turn, execution, failure);
  set(turn, { queue: [], bootsWithoutChild: 0 });
}
