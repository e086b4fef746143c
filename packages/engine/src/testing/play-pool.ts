import type { BootReport, PoolOrder } from "../python/pool/boot-machine.ts";
import { reducePool } from "../python/pool/pool-machine.ts";
import { createPoolState } from "../python/pool/pool-state.ts";
import type { PoolEffect, PoolEvent, PoolState } from "../python/pool/pool-state.ts";
import type { StartOutcome } from "../python/pool/start-failure.ts";
import { SETTINGS } from "./pool-settings.ts";

export const report = (given: BootReport): PoolEvent => ({ type: "reported", report: given });
export const exit = (id: number, code: number | null = 0): PoolEvent =>
  report({ event: "exit", id, code, signal: null });
export const gone = (id: number): PoolEvent => report({ event: "gone", id });
export const refused = (id: number): PoolEvent => report({ event: "refused", id, reason: "EAGAIN" });
export const full = (id: number): PoolEvent => report({ event: "full", id });
export const closed = (outcome?: StartOutcome): PoolEvent =>
  report({
    event: "closed",
    description: "ended with exit code 3",
    failure: outcome === undefined ? null : { outcome, lines: [] },
  });

/** What comes of events; a number is the time from then on. Only the effects of the last event, in words. */
export function play(...events: ReadonlyArray<PoolEvent | number>): string {
  return playWith({ maxChildren: Infinity }, events);
}

export function playWith(
  { maxChildren }: Pick<PoolState, "maxChildren">,
  events: ReadonlyArray<PoolEvent | number>,
): string {
  let state = createPoolState(
    { ...SETTINGS, slots: 4, canaryMs: 250 },
    { startMode: "auto", maxChildren },
    0,
  );
  let effects: readonly PoolEffect[] = [];
  let now = 0;
  for (const event of events)
    if (typeof event === "number") now = event;
    else ({ state, effects } = reducePool(state, event, now));
  return effects.map(describeEffect).filter(Boolean).join(", ");
}

function describeOrder(order: PoolOrder): string {
  return Object.values(order).join(" ");
}

function describeEffect(effect: PoolEffect): string {
  switch (effect.type) {
    case "boot":
      return `boot ${effect.startMode}`;
    case "order":
      return describeOrder(effect.order);
    case "handOver":
      return `child ${effect.child} runs ${effect.execution}`;
    case "disconnect":
      return `disconnect ${effect.child}`;
    case "refuse":
      return `refuse ${effect.execution}: ${effect.outcome.detail}`;
    case "lost":
      return `lost ${effect.execution}: ${effect.detail}`;
    case "exit":
    case "gone":
      return `${effect.type} ${effect.execution}`;
    case "replace":
      return `replace: ${effect.reason}`;
    case "closed":
      return "closed";
    case "log":
      break;
  }
  return describeLog(effect.message);
}

function describeLog(message: string): string {
  return message.includes("parked") ? `log: ${message}` : "";
}
