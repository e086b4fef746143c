import type { Entry } from "./history.ts";
import { MAX_RETRIES, isRetried } from "./schedule.ts";

/*
 * Judges what clients have seen in one schedule, and nothing else: it never asks the platform or its database. What may
 * follow what is written down here a second time, from the specification, so that a wrong table in the product is noticed.
 */

/** Which promise of the platform was broken. */
export type Violation =
  /** An acknowledged execution does not exist, or its outcome cannot be fetched. Guarantee 1. */
  | "LOST"
  /** User code began twice for one start, or one key made two executions. Guarantee 2. */
  | "DOUBLED"
  /** What was refused was run all the same. */
  | "REFUSED_BUT_RUN"
  /** A sound request was called a mistake of its caller. */
  | "WRONGLY_REFUSED"
  /** A result is not of the run that began, or nothing began. Guarantee 2. */
  | "FOREIGN_RESULT"
  /** It had not ended when everything was repaired, and its time was over. Guarantees 1 and 3. */
  | "STUCK"
  /** Two final states. Guarantee 4. */
  | "CHANGED_STATE"
  /** Two results, or one that does not go with the state. Guarantee 4. */
  | "CHANGED_RESULT"
  /** A reader of the feed was not given a change of state. */
  | "FEED_GAP"
  /** A reader of the feed was given changes in an order that cannot be. */
  | "FEED_ORDER"
  /** The receiver was not sent the end of an execution. */
  | "UNDELIVERED"
  /** It was sent something else than what happened, or without a signature. */
  | "WRONG_MESSAGE";

/** One broken promise. */
export interface Fault {
  readonly violation: Violation;
  /** Id of the execution; name of the start where there is none. */
  readonly of: string;
  readonly detail: string;
}

type EntryOf<K extends Entry["kind"]> = Extract<Entry, { readonly kind: K }>;

/** All that was seen of one execution. */
interface Life {
  readonly id: string;
  readonly entries: readonly Entry[];
}

const MOVES: Readonly<Record<string, readonly string[]>> = {
  "": ["PENDING"],
  PENDING: ["RUNNING", "FAILED"],
  RUNNING: ["SUCCEEDED", "FAILED", "UNKNOWN", "PENDING"],
};
const FINAL: ReadonlySet<string> = new Set(["SUCCEEDED", "FAILED", "UNKNOWN"]);
/** What a caller who makes no mistake may be answered: an access token that is not valid yet (a clock is wrong), slowness, a limit. */
const NO_MISTAKE: ReadonlySet<number> = new Set([401, 408, 429]);

/** All promises that a history breaks. `readers`: names of the readers of the feed, each of which must be given everything. */
export function checkHistory(history: readonly Entry[], readers: readonly string[]): readonly Fault[] {
  const ids = new Set(history.flatMap((entry) => ("id" in entry ? [entry.id] : [])));
  const isSettled = history.some(({ kind }) => kind === "settled");
  const isDelivered = history.some(({ kind }) => kind === "delivered");
  const lives = [...ids].map((id) => ({
    id,
    entries: history.filter((entry) => "id" in entry && entry.id === id),
  }));
  const givenUp = select(history, "gave-up").map(({ op, what }) => ({
    violation: "STUCK" as const,
    of: op,
    detail: `a client waited in vain for all answers that it needs of ${what}`,
  }));
  const unrepaired = select(history, "unrepaired").map(({ what }) => ({
    violation: "STUCK" as const,
    of: "the platform",
    detail: what,
  }));
  return [
    ...unrepaired,
    ...givenUp,
    ...checkStarts(history),
    ...lives.flatMap((life) => [
      ...checkExistence(life, isSettled),
      ...checkFinalState(life),
      ...checkResults(life, isSettled),
      ...readers.flatMap((reader) => checkFeed(life, reader, isSettled)),
      ...checkMessages(life, isDelivered),
    ]),
  ];
}

function select<K extends Entry["kind"]>(entries: readonly Entry[], kind: K): readonly EntryOf<K>[] {
  return entries.filter((entry): entry is EntryOf<K> => entry.kind === kind);
}

function countBy<T>(items: readonly T[], read: (item: T) => string): ReadonlyMap<string, readonly T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) groups.set(read(item), [...(groups.get(read(item)) ?? []), item]);
  return groups;
}

function checkStarts(history: readonly Entry[]): readonly Fault[] {
  const accepted = countBy(select(history, "accepted"), ({ op }) => op);
  const began = countBy(select(history, "began"), ({ op }) => op);
  // Of what nobody answered it is not known whether it exists.
  const unanswered = new Set(select(history, "unanswered").map(({ op }) => op));
  const faults: Fault[] = select(history, "refused")
    .filter(({ status }) => status < 500 && !NO_MISTAKE.has(status))
    .map(({ op, status, code }) => ({ violation: "WRONGLY_REFUSED", of: op, detail: `${status} ${code}` }));
  for (const [op, answers] of accepted) {
    const ids = new Set(answers.map(({ id }) => id));
    if (ids.size > 1)
      faults.push({ violation: "DOUBLED", of: op, detail: `one key made ${[...ids].join(" and ")}` });
  }
  for (const [op, starts] of began) {
    const who = starts.map(({ id, nonce, attempt }) => `${id} (${nonce}, attempt ${attempt})`).join(" and ");
    if (isDoubled(op, starts))
      faults.push({ violation: "DOUBLED", of: op, detail: `user code began as ${who}` });
    const mayExist = accepted.has(op) || unanswered.has(op);
    if (!mayExist) faults.push({ violation: "REFUSED_BUT_RUN", of: op, detail: `user code began as ${who}` });
  }
  return faults;
}

/** Where the service has lost attempts repeated, each may begin once, and there are no more of them than it wants. */
function isDoubled(op: string, starts: readonly EntryOf<"began">[]): boolean {
  if (!isRetried(op)) return starts.length > 1;
  const attempts = new Set(starts.map(({ attempt }) => attempt));
  const ids = new Set(starts.map(({ id }) => id));
  return ids.size > 1 || attempts.size < starts.length || attempts.size > MAX_RETRIES + 1;
}

/** The final states that were seen, by whoever saw them. */
function listEnds({ entries }: Life): readonly string[] {
  const states = [...select(entries, "state"), ...select(entries, "event")].map(({ status }) => status);
  return [...new Set<string>(states)].filter((status) => FINAL.has(status));
}

function checkExistence(life: Life, isSettled: boolean): readonly Fault[] {
  const { id, entries } = life;
  // Whoever polls is told again and again.
  const answers = countBy(select(entries, "absent"), ({ code, by }) => `${by} answered ${code}`);
  const absent = [...answers].map(([answer, times]) => ({
    violation: "LOST" as const,
    of: id,
    detail: `${answer} at ${times[0]?.atMs}, ${times.length} times in all`,
  }));
  if (!isSettled || listEnds(life).length > 0) return absent;
  const last = select(entries, "state").at(-1);
  const detail = `it had not ended; last seen: ${last?.status ?? "nothing"}`;
  return [...absent, { violation: "STUCK", of: id, detail }];
}

function checkFinalState(life: Life): readonly Fault[] {
  const ends = listEnds(life);
  if (ends.length < 2) return [];
  return [{ violation: "CHANGED_STATE", of: life.id, detail: `it was ${ends.join(" and ")}` }];
}

function checkResults(life: Life, isSettled: boolean): readonly Fault[] {
  const { id, entries } = life;
  const results = select(entries, "result");
  const texts = [...new Set(results.map(({ text }) => text))];
  const faults: Fault[] = [];
  if (texts.length > 1)
    faults.push({ violation: "CHANGED_RESULT", of: id, detail: `it was ${texts.join(" and ")}` });
  const end = listEnds(life).at(-1);
  const hasSucceeded = end === "SUCCEEDED";
  if (end !== undefined && results.some(({ result }) => (result !== null) !== hasSucceeded))
    faults.push({
      violation: "CHANGED_RESULT",
      of: id,
      detail: `${end} has the result ${texts.join(" and ")}`,
    });
  // Which gateway knows first that it has ended does not matter: once all is settled, every one must have it.
  const isFetched = results.some(({ text }) => text !== "");
  const last = select(entries, "no-result").at(-1);
  // One of which no start is known, because its answer was lost and its code never began: nobody asks for its result.
  const isKnown = entries.some((entry) => "op" in entry);
  if (isSettled && isKnown && end !== undefined && !isFetched)
    faults.push({
      violation: "LOST",
      of: id,
      detail: `its result could not be fetched: ${last?.code ?? "no answer"}`,
    });
  return [...faults, ...checkOrigin(life, results)];
}

/** A result names its start, its execution, and the run: only the one that began may have written it. */
function checkOrigin({ id, entries }: Life, results: readonly EntryOf<"result">[]): readonly Fault[] {
  const began = select(entries, "began");
  // An attempt begins when the one before is over for the platform: nothing of that one counts from then on.
  const last = Math.max(...began.map(({ attempt }) => attempt));
  const ops = new Set([...select(entries, "accepted"), ...began].map(({ op }) => op));
  for (const { result, text } of results) {
    if (result === null) continue;
    const isOfRun = began.some(({ nonce, op }) => nonce === result.nonce && op === result.op);
    if (isOfRun && result.attempt === last && result.id === id && ops.size === 1) continue;
    return [{ violation: "FOREIGN_RESULT", of: id, detail: `${text} is not of the last run that began` }];
  }
  return [];
}

function checkFeed(life: Life, reader: string, isSettled: boolean): readonly Fault[] {
  const { id, entries } = life;
  const seen = new Set<string>();
  const given = select(entries, "event").filter((event) => event.reader === reader);
  // What comes again, at least once being promised, is known by its cursor.
  const states = given
    .filter(({ cursor }) => !seen.has(cursor) && seen.add(cursor))
    .map(({ status }) => status);
  const path = `${reader}: ${states.join(", ") || "nothing"}`;
  let last = "";
  for (const status of states) {
    if (MOVES[last]?.includes(status) !== true) {
      const violation = isPathOf(states) ? "FEED_ORDER" : "FEED_GAP";
      return [{ violation, of: id, detail: path }];
    }
    last = status;
  }
  if (isSettled && !FINAL.has(last)) return [{ violation: "FEED_GAP", of: id, detail: path }];
  return [];
}

/** Whether the same states in another order would be a life. */
function isPathOf(states: readonly string[]): boolean {
  const count = (wanted: string) => states.filter((status) => status === wanted).length;
  const ends = states.filter((status) => FINAL.has(status));
  const [pending, running] = [count("PENDING"), count("RUNNING")];
  // Only what fails may end without having run since it last waited.
  const mayWait = ends.length === 0 || ends[0] === "FAILED";
  return ends.length <= 1 && pending > 0 && (running === pending || (mayWait && running === pending - 1));
}

function checkMessages(life: Life, isDelivered: boolean): readonly Fault[] {
  const { id, entries } = life;
  const messages = select(entries, "message");
  const ends = listEnds(life);
  const wrong = messages.filter(
    ({ status, isSigned }) => !isSigned || (ends.length > 0 && !ends.includes(status)),
  );
  if (wrong.length > 0)
    return [
      {
        violation: "WRONG_MESSAGE",
        of: id,
        detail: `${ends.join(" and ")} was told as ${wrong.map(({ status, isSigned }) => `${status}${isSigned ? "" : " (unsigned)"}`).join(" and ")}`,
      },
    ];
  const isTold = messages.some(({ answered }) => answered < 300);
  if (!isDelivered || ends.length === 0 || isTold) return [];
  const detail = `${ends.join(" and ")} was sent ${messages.length} times and never taken`;
  return [{ violation: "UNDELIVERED", of: id, detail }];
}
