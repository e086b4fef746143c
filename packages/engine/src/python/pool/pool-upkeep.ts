import { chooseTarget, countRunning, isBusy, isStarting } from "./pool-state.ts";
import type { PoolState } from "./pool-state.ts";
import { disconnect, endZygote, move, order, set } from "./pool-turn.ts";
import type { Turn } from "./pool-turn.ts";

const SIGKILL = 9;

/** What is due about every second: late children, idle ones, and a zygote that is old or does not do its part. */
export function tick(turn: Turn, memory: PoolState["memory"]): void {
  set(turn, { memory });
  endLate(turn);
  evict(turn);
  watchZygote(turn);
}

/** Ends the idle children, unless something runs. */
export function trim(turn: Turn): void {
  if (!isBusy(turn.state)) endIdle(turn, 0);
}

/**
 * Asks for another zygote of the version, which takes over when it has a child ready; what runs in this one goes on to its end.
 * Not again within `replaceMs`: the other one may fail as well, or has to wait for its turn.
 */
export function wantReplacement(turn: Turn, reason: string): void {
  const { phase, intent, settings } = turn.state;
  if (phase.name !== "warm" || intent !== "serve" || turn.now < phase.replaceFrom) return;
  set(turn, { phase: { ...phase, replaceFrom: turn.now + settings.replaceMs } });
  turn.effects.push({ type: "replace", reason });
}

/** A zygote that does not end a child is stuck itself (in a hook of user code, say), and would never start a child again. */
function endLate(turn: Turn): void {
  const { phase, children, settings } = turn.state;
  if (phase.name !== "warm") return;
  for (const child of children.filter(isStarting)) {
    const lateMs = turn.now - Math.max(child.orderedAt, phase.since) - settings.bootMs;
    if (lateMs <= 0) continue;
    if (child.stage === "ordered") move(turn, child, { stage: "late" });
    turn.effects.push({ type: "order", order: { order: "signal", id: child.id, signal: SIGKILL } });
    if (lateMs <= settings.confirmMs) continue;
    const message = "a zygote does not answer: the whole sandbox is killed";
    turn.effects.push({ type: "log", level: "warn", fields: {}, message });
    return endZygote(turn, "kill");
  }
}

/** Ends what is not needed any more: first spare children, then all of them, later the zygote. */
function evict(turn: Turn): void {
  const { settings, peak, lastUsed } = turn.state;
  if (turn.now - peak.since > settings.idleMs) {
    set(turn, { peak: { present: countRunning(turn.state), previous: peak.present, since: turn.now } });
    endIdle(turn, chooseTarget(turn.state));
  }
  const idleMs = turn.now - lastUsed;
  if (isBusy(turn.state) || idleMs <= settings.idleMs) return;
  endIdle(turn, 0);
  if (idleMs > settings.zygoteIdleMs) endZygote(turn, "stop");
}

/** Ends idle children but for so many. */
function endIdle(turn: Turn, kept: number): void {
  const idle = turn.state.children.filter(({ stage }) => stage === "idle");
  for (const child of idle.slice(0, Math.max(0, idle.length - kept))) disconnect(turn, child);
}

/**
 * A zygote may stop forking without an end: a hook of user code hangs, a lock was copied while it was held. So one that has not made a
 * child for a while makes one, whether it is needed or not.
 */
function watchZygote(turn: Turn): void {
  const { phase, intent, startMode, settings, children } = turn.state;
  if (phase.name !== "warm" || intent !== "serve") return;
  // Without user code it does not age, and whether a child comes up depends on the import alone.
  if (startMode === "spawn") return;
  if (turn.now - phase.since > settings.maxAgeMs) return wantReplacement(turn, "it has reached its age");
  const waiting = children.filter(isStarting).map(({ orderedAt }) => Math.max(orderedAt, phase.since));
  if (waiting.some((since) => turn.now - since > settings.canaryLateMs))
    return wantReplacement(turn, "a child does not come up");
  if (waiting.length > 0 || turn.now - phase.provenAt <= settings.canaryMs) return;
  endIdle(turn, settings.slots - 1);
  order(turn, 1);
}
