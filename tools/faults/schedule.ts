import { createRandom } from "./random.ts";
import type { Random } from "./random.ts";

/** The processes of the platform that is tried, besides its database. */
export const MEMBERS = ["control", "gateway-1", "gateway-2", "worker-1", "worker-2"] as const;
/** One of these processes. */
export type Member = (typeof MEMBERS)[number];

/** What is cut between a process and the database: everything, what the process sends, or what it is answered. */
export type CutWay = "both" | "requests" | "answers";

/** What is done to the platform. Where it lasts, `forMs` says how long. */
export type FaultAction =
  /** SIGKILL; started again after `forMs`. */
  | { readonly kind: "kill"; readonly target: Member | "database" | "everything"; readonly forMs: number }
  /** SIGTERM; started again as soon as it is gone. */
  | { readonly kind: "restart"; readonly target: Member }
  /** SIGSTOP, then SIGCONT. */
  | { readonly kind: "pause"; readonly target: Member | "database"; readonly forMs: number }
  /** Packets stop. When they come again, what was held back arrives, unless `isReset`: then connections break. */
  | {
      readonly kind: "cut";
      readonly target: Member;
      readonly way: CutWay;
      readonly isReset: boolean;
      readonly forMs: number;
    }
  | { readonly kind: "fill-disk"; readonly forMs: number }
  /** The clock goes wrong by so much, then is right again: a step in each direction. */
  | {
      readonly kind: "step-clock";
      readonly target: Member | "database";
      readonly seconds: number;
      readonly forMs: number;
    };

/** One fault: what is done, and when. */
export type Fault = FaultAction & { readonly atMs: number };

/** What a client does: one start, and what it does with the execution. */
export interface Order {
  /** Names the start in history, input and result. */
  readonly op: string;
  readonly atMs: number;
  /** Index of the gateway that it asks first. */
  readonly gateway: number;
  /** Sends an Idempotency-Key, so that it may repeat a start without an answer. */
  readonly isKeyed: boolean;
  /** What user code does. */
  readonly work: "quick" | "short" | "long" | "fail" | "large";
  readonly follow: "poll" | "wait" | "events";
  /** How long after the start was accepted it is cancelled; null: it is not. */
  readonly cancelAfterMs: number | null;
}

/** A window of faults while clients work; then everything is repaired, and what clients have seen is judged. */
export interface Schedule {
  readonly number: number;
  readonly faults: readonly Fault[];
  readonly orders: readonly Order[];
}

/** What can be done on this machine, by this user. */
export interface Abilities {
  /** The data directory lies on a small disk of its own. */
  readonly canFillDisk: boolean;
}

/** Workers hold executions for so long without renewing. */
export const LEASE_SECONDS = 2;
const SECOND = 1_000;
const LEASE_MS = LEASE_SECONDS * SECOND;
/** Starts and faults begin within this time. */
const WINDOW_MS = 1_200;
const FAULTS = { 1: 5, 2: 4, 3: 2 };
const KINDS = { kill: 6, pause: 5, cut: 6, restart: 2, "fill-disk": 2, "step-clock": 3 };
const KILLED = {
  "worker-1": 3,
  "worker-2": 3,
  "gateway-1": 2,
  "gateway-2": 2,
  control: 2,
  database: 3,
  everything: 1,
};
const STOPPED = {
  "worker-1": 3,
  "worker-2": 3,
  "gateway-1": 1,
  "gateway-2": 1,
  control: 1,
  database: 1,
};
/** Any other fault may happen together. */
const EVERYTHING: ReadonlySet<string> = new Set([...MEMBERS, "database"]);

/** The schedule of a seed with a number: always the same one, on all machines with the same abilities. */
export function planSchedule(seed: number, number: number, abilities: Abilities): Schedule {
  const random = createRandom(`${seed}:${number}`);
  const orders = Array.from({ length: random.between(8, 14) }, (_, index) =>
    planOrder(random, `${number}.${index}`),
  );
  const wanted = Number(random.weigh(FAULTS));
  const faults: Fault[] = [];
  const taken = new Set<string>();
  // A fault whose target has one already is drawn anew.
  for (let draw = 0; faults.length < wanted && draw < 50; draw++) {
    const fault = planFault(random);
    if (fault.kind === "fill-disk" && !abilities.canFillDisk) continue;
    const targets = listTargets(fault);
    if ([...targets].some((target) => taken.has(target))) continue;
    for (const target of targets) taken.add(target);
    faults.push(fault);
  }
  return { number, faults: faults.toSorted((left, right) => left.atMs - right.atMs), orders };
}

function listTargets(fault: Fault): ReadonlySet<string> {
  if (fault.kind === "fill-disk") return new Set(["disk"]);
  return fault.target === "everything" ? EVERYTHING : new Set([fault.target]);
}

function planOrder(random: Random, op: string): Order {
  const work = random.weigh({ quick: 5, short: 4, long: 2, fail: 1, large: 1 });
  return {
    op,
    atMs: random.between(0, WINDOW_MS),
    gateway: random.between(0, 1),
    isKeyed: random.next() < 0.6,
    work,
    follow: random.pick(["poll", "wait", "events"]),
    cancelAfterMs: random.next() < 0.15 ? random.between(0, 600) : null,
  };
}

function planFault(random: Random): Fault {
  const kind = random.weigh(KINDS);
  const atMs = random.between(0, WINDOW_MS);
  switch (kind) {
    case "kill":
      return { kind, target: random.weigh(KILLED), forMs: random.between(0, 700), atMs };
    case "restart":
      return { kind, target: random.pick(MEMBERS), atMs };
    case "pause":
      return { kind, target: random.weigh(STOPPED), forMs: drawSilence(random), atMs };
    case "cut":
      return { ...planCut(random), atMs };
    case "fill-disk":
      return { kind, forMs: random.between(800, 2 * SECOND), atMs };
    case "step-clock":
      break;
  }
  return { ...planStep(random), atMs };
}

function planCut(random: Random): FaultAction {
  return {
    kind: "cut",
    target: random.pick(MEMBERS),
    way: random.pick(["both", "requests", "answers"]),
    isReset: random.next() < 0.4,
    forMs: drawSilence(random),
  };
}

function planStep(random: Random): FaultAction {
  return {
    kind: "step-clock",
    target: random.weigh({ ...STOPPED, database: 4 }),
    seconds: random.between(3, 12) * (random.next() < 0.4 ? -1 : 1),
    forMs: random.between(300, SECOND),
  };
}

/** Every third one is longer than a lease. */
function drawSilence(random: Random): number {
  return random.next() < 0.33
    ? random.between(LEASE_MS, 1.6 * LEASE_MS)
    : random.between(200, 0.7 * LEASE_MS);
}
