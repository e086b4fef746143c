import type { Moment } from "./history.ts";
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

/** One fault: what is done, and when: so long after the schedule began, or after something was seen for the so manieth time. */
export type Fault = FaultAction & {
  readonly atMs: number;
  readonly after: { readonly moment: Moment; readonly count: number } | null;
};

/** What a client does: one start, and what it does with the execution. */
export interface Order {
  /** Names the start in history, input and result; says by its last letter whether its service wants lost attempts to be repeated. */
  readonly op: string;
  readonly atMs: number;
  /** Index of the gateway that it asks first. */
  readonly gateway: number;
  /** Sends an Idempotency-Key, so that it may repeat a start without an answer. */
  readonly isKeyed: boolean;
  /** What user code does. */
  readonly work: "quick" | "short" | "long" | "fail" | "large";
  /** Sent to both gateways at the same time, to each several times, with one key: there must be one execution. */
  readonly isTwin: boolean;
  /** More than one: started as a batch of so many, with a key. */
  readonly items: number;
  /** How long after its start was sent it is to begin; null: at once. */
  readonly startsAfterMs: number | null;
  readonly follow: "poll" | "wait" | "events";
  /** How long after the start was accepted it, or its batch, is cancelled; null: it is not. */
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

/** How often a twin is sent to each gateway. */
const TWINS = 3;
/** Marks the starts of the service that has what was lost, or has failed, started again. */
const RETRIED = "r";
/** How often executions of that service are started again at most. */
export const MAX_RETRIES = 2;

/** Whether the service of a start, or of an item of a batch, has it started again. */
export function isRetried(op: string): boolean {
  return op.split(".")[1]?.endsWith(RETRIED) === true;
}

/** The starts that an order consists of: itself, or its items. */
export function listStarts({ op, items }: Pick<Order, "op" | "items">): readonly string[] {
  return items === 1 ? [op] : Array.from({ length: items }, (_, index) => `${op}.${index}`);
}

/** The gateways that a twin is sent to at the same time: of two alone one is late nearly always, and finds what the other has made. */
export function listTwins({ isTwin }: Pick<Order, "isTwin">): readonly number[] {
  return isTwin ? Array.from({ length: 2 * TWINS }, (_, index) => index % 2) : [];
}

/** Workers hold executions for so long without renewing. */
export const LEASE_SECONDS = 2;
const SECOND = 1_000;
const LEASE_MS = LEASE_SECONDS * SECOND;
/** Starts and faults begin within this time. */
const WINDOW_MS = 1_200;
const FAULTS = { 1: 3, 2: 4, 3: 3 };
const KINDS = { kill: 6, pause: 5, cut: 6, restart: 2, "fill-disk": 2, "step-clock": 3 };
const KILLED = {
  "worker-1": 3,
  "worker-2": 3,
  "gateway-1": 2,
  "gateway-2": 2,
  control: 2,
  database: 4,
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
const CUT = { "worker-1": 3, "worker-2": 3, "gateway-1": 2, "gateway-2": 2, control: 2 };
/** At which moment a fault of a target does the most harm: what was just said to be so must stay so. */
const MOMENTS: Readonly<Record<string, readonly [Moment, ...Moment[]]>> = {
  "worker-1": ["began"],
  "worker-2": ["began"],
  "gateway-1": ["accepted"],
  "gateway-2": ["accepted"],
  control: ["accepted", "ended"],
  database: ["accepted", "ended"],
  everything: ["accepted", "ended"],
};
const AT_MOMENT = 0.6;
/** A moment comes for that many starts in every schedule. */
const HIGHEST_COUNT = 5;
/** Any other fault may happen together. */
const EVERYTHING: ReadonlySet<string> = new Set([...MEMBERS, "database"]);

/** The schedule of a seed with a number: always the same one, on all machines with the same abilities. */
export function planSchedule(seed: number, number: number, abilities: Abilities): Schedule {
  const random = createRandom(`${seed}:${number}`);
  const orders = Array.from({ length: random.between(8, 14) }, (_, index) =>
    planOrder(random, `${number}.${index}${random.next() < 0.3 ? RETRIED : ""}`),
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
  return { number, faults, orders };
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
    ...planSending(random),
    work,
    follow: random.pick(["poll", "wait", "events"]),
    cancelAfterMs: random.next() < 0.15 ? random.between(0, 600) : null,
  };
}

function planSending(random: Random): Pick<Order, "isKeyed" | "isTwin" | "items" | "startsAfterMs"> {
  const isBatch = random.next() < 0.06;
  const isKeyed = isBatch || random.next() < 0.6;
  return {
    isKeyed,
    isTwin: isKeyed && !isBatch && random.next() < 0.4,
    items: isBatch ? 3 : 1,
    startsAfterMs: random.next() < 0.1 ? random.between(300, 1_500) : null,
  };
}

function planFault(random: Random): Fault {
  const action = planAction(random);
  const moments = "target" in action ? MOMENTS[action.target] : undefined;
  if (moments === undefined || action.kind === "step-clock" || random.next() >= AT_MOMENT)
    return { ...action, atMs: random.between(0, WINDOW_MS), after: null };
  const after = { moment: random.pick(moments), count: random.between(1, HIGHEST_COUNT) };
  return { ...action, atMs: random.pick([0, 0, 20, 100]), after };
}

function planAction(random: Random): FaultAction {
  const kind = random.weigh(KINDS);
  switch (kind) {
    case "kill":
      return { kind, target: random.weigh(KILLED), forMs: random.between(0, 700) };
    case "restart":
      return { kind, target: random.pick(MEMBERS) };
    case "pause":
      return { kind, target: random.weigh(STOPPED), forMs: drawSilence(random) };
    case "cut":
      return planCut(random);
    case "fill-disk":
      return { kind, forMs: random.between(800, 2 * SECOND) };
    case "step-clock":
      break;
  }
  return planStep(random);
}

function planCut(random: Random): FaultAction {
  const target = random.weigh(CUT);
  const isWorker = target === "worker-1" || target === "worker-2";
  return {
    kind: "cut",
    target,
    way: isWorker
      ? random.weigh({ both: 2, requests: 3, answers: 2 })
      : random.pick(["both", "requests", "answers"]),
    isReset: random.next() < 0.3,
    // What a worker sends at an end is to arrive after its lease.
    forMs: isWorker && random.next() < 0.6 ? drawLongSilence(random) : drawSilence(random),
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

/** Four in ten are longer than a lease. */
function drawSilence(random: Random): number {
  return random.next() < 0.4 ? drawLongSilence(random) : random.between(200, 0.7 * LEASE_MS);
}

function drawLongSilence(random: Random): number {
  return random.between(1.1 * LEASE_MS, 1.6 * LEASE_MS);
}
