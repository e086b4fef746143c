import type { ExecutionStatus } from "@platform/contract/execution";

/** What a client, a reader, a receiver or user code has seen. Times are milliseconds since the campaign began. */
export type Observation =
  /** A start was answered, or not. Without an answer nobody knows whether there is an execution. */
  | { readonly kind: "accepted"; readonly op: string; readonly id: string; readonly isReplay: boolean }
  | { readonly kind: "refused"; readonly op: string; readonly status: number; readonly code: string }
  | { readonly kind: "unanswered"; readonly op: string; readonly why: string }
  /** User code has begun, and says so before it does anything else. The number is by chance, and stands in the result. */
  | {
      readonly kind: "began";
      readonly op: string;
      readonly id: string;
      readonly nonce: string;
      readonly attempt: number;
    }
  /** A state that was read: by a request, or from the stream of one execution. */
  | { readonly kind: "state"; readonly id: string; readonly status: ExecutionStatus; readonly by: string }
  /** The execution does not exist, says a gateway. */
  | { readonly kind: "absent"; readonly id: string; readonly code: string; readonly by: string }
  /** `text`: the result, or code and detail, as canonical text; of large parts the digest. */
  | {
      readonly kind: "result";
      readonly id: string;
      readonly text: string;
      readonly result: ResultContent | null;
      readonly by: string;
    }
  /** There is no result, says a gateway, of an execution that had ended. */
  | { readonly kind: "no-result"; readonly id: string; readonly code: string; readonly by: string }
  /** A client waited as long as it would for this, with all processes running again. */
  | { readonly kind: "gave-up"; readonly op: string; readonly what: string }
  /** A reader of the feed was given an event. */
  | {
      readonly kind: "event";
      readonly reader: string;
      readonly cursor: string;
      readonly id: string;
      readonly status: ExecutionStatus;
    }
  /** A message came to the receiver of the webhook, which answered with this status. */
  | {
      readonly kind: "message";
      readonly message: string;
      readonly id: string;
      readonly status: string;
      readonly isSigned: boolean;
      readonly answered: number;
    }
  /** Everything was repaired, and clients have waited as long as they would. What did not end by now is stuck. */
  | { readonly kind: "settled" }
  /** The same for messages to webhooks, which are tried again after longer pauses. */
  | { readonly kind: "delivered" }
  /** Something is not as it was before the faults: a process is not ready again. */
  | { readonly kind: "unrepaired"; readonly what: string }
  /** For people: what was done to the platform. The checker does not look at it. */
  | { readonly kind: "fault"; readonly what: string };

/** The parts of a result by which it names the run that made it. */
export interface ResultContent {
  readonly op: string;
  readonly id: string;
  readonly nonce: string;
  readonly attempt: number;
}

/** An observation, and when it was made. */
export type Entry = Observation & { readonly atMs: number };

/** Gathers what is observed in a campaign, and gives each schedule its own part. */
export interface History {
  readonly add: (observation: Observation) => void;
  /** What concerns the starts of a schedule, in order. */
  readonly ofSchedule: (number: number) => readonly Entry[];
  /** Ids of the executions that are known of a schedule. */
  readonly idsOf: (number: number) => readonly string[];
  /** What was observed of an execution, in order. */
  readonly ofExecution: (id: string) => readonly Entry[];
  /** The start that made an execution, or its item of a batch; null: none is known. */
  readonly getOp: (id: string) => string | null;
  /** What concerns executions of which no start is known: its answer was lost, and its code has not begun. */
  readonly ofOrphans: () => readonly Entry[];
  /** Begins a schedule: faults and ends of waiting belong to the current one. */
  readonly open: (number: number) => void;
  /** Resolves at once when something was seen for the so manieth time since the schedule began. */
  readonly awaitMoment: (moment: Moment, count: number) => Promise<void>;
}

/** What a fault can follow at once: a start was accepted, user code has begun, an end was seen. */
export type Moment = "accepted" | "began" | "ended";

function getMoment(observation: Observation): Moment | null {
  if (observation.kind === "accepted" || observation.kind === "began") return observation.kind;
  if (observation.kind !== "state") return null;
  return observation.status === "PENDING" || observation.status === "RUNNING" ? null : "ended";
}

/** The number of the schedule that a start belongs to. */
function getScheduleOf(op: string): number {
  return Number(op.split(".")[0]);
}

/** The clock of a campaign's history is monotonic. */
export function createHistory(readMs: () => number = () => Math.round(performance.now())): History {
  const byExecution = new Map<string, Entry[]>();
  const bySchedule = new Map<number, Entry[]>();
  const executions = new Map<number, Set<string>>();
  let current = 0;
  let moments = createMoments();
  const push = <K>(map: Map<K, Entry[]>, key: K, entry: Entry) => {
    const list = map.get(key);
    if (list === undefined) map.set(key, [entry]);
    else list.push(entry);
  };
  const idsOf = (number: number) => [...(executions.get(number) ?? [])];
  return {
    add: (observation) => {
      const entry = { ...observation, atMs: readMs() };
      const moment = getMoment(observation);
      if (moment !== null) moments.note(moment);
      if ("id" in entry) push(byExecution, entry.id, entry);
      else push(bySchedule, "op" in entry ? getScheduleOf(entry.op) : current, entry);
      if (!("id" in entry && "op" in entry)) return;
      const number = getScheduleOf(entry.op);
      const known = executions.get(number) ?? new Set();
      executions.set(number, known.add(entry.id));
    },
    ofSchedule: (number) =>
      [...(bySchedule.get(number) ?? []), ...idsOf(number).flatMap((id) => byExecution.get(id) ?? [])]
        // Stable: what was observed in one millisecond of one execution keeps its order.
        .toSorted((left, right) => left.atMs - right.atMs),
    idsOf,
    ofOrphans: () => {
      const known = new Set([...executions.values()].flatMap((ids) => [...ids]));
      return [...byExecution].flatMap(([id, entries]) => (known.has(id) ? [] : entries));
    },
    getOp: (id) => {
      for (const entry of byExecution.get(id) ?? []) if ("op" in entry) return entry.op;
      return null;
    },
    ofExecution: (id) => byExecution.get(id) ?? [],
    open: (number) => {
      current = number;
      moments = createMoments();
    },
    awaitMoment: (moment, count) => moments.wait(moment, count),
  };
}

interface Moments {
  readonly note: (moment: Moment) => void;
  readonly wait: (moment: Moment, count: number) => Promise<void>;
}

function createMoments(): Moments {
  const counts = { accepted: 0, began: 0, ended: 0 };
  const waiting = new Map<string, () => void>();
  return {
    note: (moment) => waiting.get(`${moment} ${++counts[moment]}`)?.(),
    wait: (moment, count) =>
      new Promise((resolve) => {
        const before = waiting.get(`${moment} ${count}`);
        if (counts[moment] >= count) resolve();
        else
          waiting.set(`${moment} ${count}`, () => {
            before?.();
            resolve();
          });
      }),
  };
}
