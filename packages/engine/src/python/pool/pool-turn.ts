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

export function set(turn: Turn, changes: Partial<PoolState>): void {
  turn.state = { ...turn.state, ...changes };
}

export function move(turn: Turn, { id, orderedAt }: Child, stage: ChildStage): void {
  const moved: Child = { id, orderedAt, ...stage };
  set(turn, { children: turn.state.children.map((child) => (child.id === id ? moved : child)) });
}

export function remove(turn: Turn, { id }: Child): void {
  set(turn, { children: turn.state.children.filter((child) => child.id !== id) });
}

export function disconnect(turn: Turn, child: Child): void {
  move(turn, child, { stage: "unused" });
  turn.effects.push({ type: "disconnect", child: child.id });
}

export function order(turn: Turn, count: number): void {
  for (let index = 0; index < count; index += 1) {
    const child: Child = { id: turn.state.lastChild + 1, orderedAt: turn.now, stage: "ordered" };
    set(turn, { lastChild: child.id, children: [...turn.state.children, child] });
    turn.effects.push({ type: "order", order: { order: "fork", id: child.id } });
  }
}

export function boot(turn: Turn): void {
  set(turn, { phase: { name: "booting" } });
  turn.effects.push({ type: "boot", startMode: turn.state.startMode });
}

export function endZygote(turn: Turn, order: "stop" | "kill"): void {
  if (!canServe(turn.state.phase)) return;
  set(turn, { phase: { name: "ending" } });
  turn.effects.push({ type: "order", order: { order } });
}

export function refuse(turn: Turn, execution: Ticket, { outcome, lines }: BootFailure): void {
  turn.effects.push({ type: "refuse", execution, outcome, lines });
}

export function refuseQueue(turn: Turn, failure: BootFailure): void {
  for (const execution of turn.state.queue) refuse(turn, execution, failure);
  set(turn, { queue: [], bootsWithoutChild: 0 });
}
