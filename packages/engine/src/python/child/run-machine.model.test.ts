import fc from "fast-check";
import { expect, test } from "vitest";
import type { RunEvent, Timer } from "./run-state.ts";
import { EVENTS, UNTOUCHED, findTimer, follow } from "../../testing/run-history.ts";
import type { History } from "../../testing/run-history.ts";

/*
 * Any events in any order, also such as no pool would bring about. What execution.ts and the timers see to is taken for granted: a
 * timer fires only while it runs, and `drained` comes once, after the log was to be drained.
 */

const { raised, handedOver, refused, cancel, limit, exit, gone, lost, drained } = EVENTS;
const { answerDue, exitDue, graceDue, confirmDue } = EVENTS;
const ANY_ORDER = fc.array(fc.constantFrom<RunEvent[]>(...Object.values(EVENTS)), {
  maxLength: 14,
  size: "max",
});
const RUNS = { numRuns: 4000 };

function isPossible({ done, timers, outcomes }: History, event: RunEvent): boolean {
  const timer = findTimer(event);
  if (timer !== null) return timers.has(timer);
  return event.type !== "drained" || (done.includes("drainLog") && outcomes.length === 0);
}

interface Moment {
  readonly event: RunEvent;
  readonly before: History;
  readonly after: History;
}

/** Leaves out what is not possible when its turn comes. */
function playPossible(events: readonly RunEvent[], begin = UNTOUCHED): readonly Moment[] {
  let before = begin;
  return events.flatMap((event) => {
    if (!isPossible(before, event)) return [];
    const moment = { event, before, after: follow(before, event) };
    before = moment.after;
    return [moment];
  });
}

function finish(events: readonly RunEvent[], begin = UNTOUCHED): History {
  return playPossible(events, begin).at(-1)?.after ?? begin;
}

function count({ done }: History, action: string): number {
  return done.filter((one) => one === action).length;
}

/** What happened in a moment. */
function listNew({ before, after }: Moment): readonly string[] {
  return after.done.slice(before.done.length);
}

test("a run that was begun ends with its processes: settled, given back, every timer stopped", () => {
  const ends = fc.constantFrom([exit, gone], [gone], [lost]);
  fc.assert(
    fc.property(ANY_ORDER, ends, (events, end) => {
      const history = finish([handedOver, ...events, ...end, answerDue, raised, drained]);
      expect(history.state).toEqual({ name: "ended" });
      expect([...history.timers]).toEqual([]);
      expect(history.outcomes).toHaveLength(1);
      const reports = ["reportBegun", "drainLog", "reportAnswered", "reportEnded"];
      expect(reports.map((report) => count(history, report))).toEqual([1, 1, 1, 1]);
    }),
    RUNS,
  );
});

test("nothing is done twice but waiting for an answer, and nothing at all after the end", () => {
  fc.assert(
    fc.property(ANY_ORDER, (events) => {
      const moments = playPossible(events);
      const done = (moments.at(-1)?.after.done ?? []).filter((action) => !action.endsWith(" answer"));
      expect(
        done.filter((action, index) => !action.startsWith("stop ") && done.indexOf(action) < index),
      ).toEqual([]);
      expect(moments.filter(({ before }) => before.state.name === "ended").flatMap(listNew)).toEqual([]);
    }),
    RUNS,
  );
});

/** All but the wait for an answer, which begins with the end of the process or of its connection. */
function listTimers({ state }: History): readonly Timer[] {
  const running = state.name === "running" && state.kill === null ? (["limit"] as const) : [];
  const processes = state.name === "queued" || state.name === "ended" ? null : state.processes;
  if (processes === "leaving") return [...running, "exit"];
  if (processes === "terminating") return [...running, "grace"];
  return processes === "killed" ? [...running, "confirm"] : running;
}

test("each state has its timers, and no others run", () => {
  fc.assert(
    fc.property(ANY_ORDER, (events) => {
      const histories = playPossible([handedOver, ...events]).map(({ after }) => after);
      const withoutAnswer = histories.map(({ timers }) => [...timers].filter((timer) => timer !== "answer"));
      expect(withoutAnswer).toEqual(histories.map(listTimers));
      const awaiting = histories.filter(({ timers }) => timers.has("answer"));
      expect(awaiting.filter(({ state }) => state.name !== "running")).toEqual([]);
    }),
    RUNS,
  );
});

const WITHOUT_ANSWER = { status: expect.stringMatching(/^(?:FAILED|UNKNOWN)$/u) };

function findExpected(until: readonly RunEvent[]): object {
  const kill = until.find((event) => event.type === "kill");
  if (kill !== undefined) return { status: "FAILED", ...kill.reason };
  return until.find((event) => event.type === "answer")?.outcome ?? WITHOUT_ANSWER;
}

test("a kill that came before the answer decides; without one, the answer that came first", () => {
  fc.assert(
    fc.property(ANY_ORDER, (events) => {
      const moments = playPossible([handedOver, ...events, lost, answerDue, raised, drained]);
      const decided = moments.findIndex((moment) => listNew(moment).includes("drainLog"));
      const until = moments.slice(0, decided + 1).map(({ event }) => event);
      const outcomes = moments.at(-1)?.after.outcomes;
      expect(outcomes).toHaveLength(1);
      expect(outcomes?.[0]).toMatchObject(findExpected(until));
    }),
    RUNS,
  );
});

const ON_PROCESSES = new Set([
  "terminate",
  "kill",
  "killSandbox",
  "start exit",
  "start grace",
  "start confirm",
]);

test("the room is given back when no process is left, and from then on none is signalled or waited for", () => {
  fc.assert(
    fc.property(ANY_ORDER, (events) => {
      const moments = playPossible([handedOver, ...events]);
      const end = moments.findIndex(({ event }) => event.type === "gone" || event.type === "lost");
      const given = moments.findIndex((moment) => listNew(moment).includes("reportEnded"));
      expect(given).toBe(end);
      const after = end < 0 ? [] : moments.slice(end);
      expect(after.flatMap(listNew).filter((action) => ON_PROCESSES.has(action))).toEqual([]);
      const steps: readonly Timer[] = ["exit", "grace", "confirm"];
      expect(after.filter((moment) => steps.some((timer) => moment.after.timers.has(timer)))).toEqual([]);
    }),
    RUNS,
  );
});

/** Time passes until nothing waits for it: each timer may start another. */
const ALL_TIME: readonly RunEvent[] = [limit, answerDue, graceDue, exitDue, confirmDue, answerDue, drained];

test("processes that never end are killed, then their sandbox; the outcome does not wait for them", () => {
  const endless = ANY_ORDER.map((events) => events.filter(({ type }) => type !== "gone" && type !== "lost"));
  fc.assert(
    fc.property(endless, (events) => {
      const history = finish([handedOver, ...events, ...ALL_TIME]);
      expect([count(history, "kill"), count(history, "killSandbox")]).toEqual([1, 1]);
      expect(history.done.indexOf("kill")).toBeLessThan(history.done.indexOf("killSandbox"));
      expect([...history.timers]).toEqual([]);
      expect(finish([lost, answerDue, drained], history).state).toEqual({ name: "ended" });
    }),
    RUNS,
  );
});

test("what was never handed over reaches no child, and leaves the queue once", () => {
  fc.assert(
    fc.property(fc.constantFrom(refused, cancel), ANY_ORDER, (first, events) => {
      const history = finish([first, ...events, drained]);
      const withdrawn = first === cancel ? ["withdraw"] : [];
      const expected = ["reportBegun", "writeLog", "drainLog", "reportEnded", ...withdrawn, "settle"];
      expect(history.done).toEqual(expected);
      expect(history.state).toEqual({ name: "ended" });
    }),
    RUNS,
  );
});
