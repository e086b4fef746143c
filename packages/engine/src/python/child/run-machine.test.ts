import { describe, expect, test } from "vitest";
import type { RunEvent } from "./run-state.ts";
import {
  CANCELLED,
  EVENTS,
  NOT_STARTED,
  RAISED,
  SUCCEEDED,
  TIMEOUT,
  follow,
  listActions,
  play,
} from "../../testing/run-history.ts";

const {
  handedOver,
  refused,
  cancel,
  limit,
  answer,
  raised,
  receiving,
  controlClosed,
  exit,
  gone,
  lost,
  drained,
  answerDue,
  exitDue,
  graceDue,
  confirmDue,
} = EVENTS;

describe("how a run ends", () => {
  const killed = { status: "FAILED", ...CANCELLED };
  const timedOut = { status: "FAILED", ...TIMEOUT };
  const exited = {
    status: "FAILED",
    code: "EXECUTION_ERROR",
    detail: "The process ended with exit code 3 before run returned.",
  };
  const hungUp = {
    status: "FAILED",
    code: "EXECUTION_ERROR",
    detail: "The code closed the runtime's own connection before run returned.",
  };
  const workerLost = { status: "UNKNOWN", code: "WORKER_LOST", detail: "the worker's process ended" };

  test.each<[string, readonly RunEvent[], unknown]>([
    ["an answer", [answer, exit, gone], SUCCEEDED],
    ["an exception", [raised, exit, gone], RAISED],
    ["an answer that comes after the exit", [exit, answer, gone], SUCCEEDED],
    ["an answer that comes when no process is left", [exit, gone, answer], SUCCEEDED],
    ["two answers: the first counts", [raised, answer, exit, gone], RAISED],
    ["an exit, and the connection closes", [exit, controlClosed, gone], exited],
    ["a connection that closes before the exit", [controlClosed, exit, gone], exited],
    ["an answer that is stored late", [receiving, exit, gone, answerDue, answerDue, answer], SUCCEEDED],
    ["an answer that breaks off", [receiving, exit, gone, controlClosed, answerDue], exited],
    ["a cancel while an answer is stored", [receiving, exit, gone, cancel, answerDue], killed],
    ["a time limit while an answer is stored", [receiving, exit, gone, limit, answerDue], timedOut],
    ["an exit, and nothing comes", [exit, gone, answerDue], exited],
    ["a connection that closes, and the process lives on", [controlClosed, answerDue, exit, gone], hungUp],
    ["a cancel", [cancel, exit, gone], killed],
    ["a cancel, and an answer that comes later", [cancel, answer, exit, gone], killed],
    ["a cancel that comes after the answer", [answer, cancel, exit, gone], SUCCEEDED],
    ["a cancel between the exit and its answer", [exit, cancel, answer, gone], killed],
    ["the time limit", [limit, exit, gone], timedOut],
    ["the time limit during a cancel: the first reason counts", [cancel, limit, exit, gone], killed],
    ["the end of the sandbox", [lost, answerDue], workerLost],
    ["the end of the sandbox after a cancel", [cancel, lost], killed],
    ["the end of the sandbox after the answer", [answer, lost], SUCCEEDED],
    ["the end of the sandbox before its answer was read", [lost, answer], SUCCEEDED],
    ["the end of the sandbox after the exit", [exit, lost, answerDue], workerLost],
    ["the end of the sandbox when no process was left", [exit, gone, lost, answerDue], exited],
    ["an exit that is reported after the end of the sandbox", [lost, exit, answerDue], workerLost],
  ])("%s", (_, events, outcome) => {
    const history = play(handedOver, ...events, drained);
    expect(history.outcomes).toEqual([outcome]);
    expect(history.state).toEqual({ name: "ended" });
    expect([...history.timers]).toEqual([]);
  });

  test.each<[string, readonly RunEvent[], readonly string[], unknown]>([
    ["one that cannot be handed over", [refused], [], NOT_STARTED],
    ["one that is cancelled in the queue, and leaves it", [cancel], ["withdraw"], killed],
  ])("%s never begins", (_, events, last, outcome) => {
    const history = play(...events, drained, handedOver, answer);
    expect(history.done).toEqual(["reportBegun", "writeLog", "drainLog", "reportEnded", ...last, "settle"]);
    expect(history.outcomes).toEqual([outcome]);
    expect(history.state).toEqual({ name: "ended" });
  });
});

describe("how processes that do not end are ended", () => {
  const begin = ["reportBegun", "serve"];
  const answered = ["closeControl", "drainLog", "reportAnswered"];

  test.each<[string, readonly RunEvent[], readonly string[]]>([
    [
      "after a cancel: SIGTERM, SIGKILL, the sandbox",
      [cancel, graceDue, confirmDue],
      [...begin, "terminate", "kill", "killSandbox"],
    ],
    ["at the time limit: SIGKILL, the sandbox", [limit, confirmDue], [...begin, "kill", "killSandbox"]],
    [
      "after an answer: SIGKILL, the sandbox",
      [answer, exitDue, confirmDue],
      [...begin, ...answered, "kill", "killSandbox"],
    ],
    [
      "an answer during the grace period changes none of its steps",
      [cancel, answer, exitDue, graceDue],
      [...begin, "terminate", ...answered, "kill"],
    ],
    [
      "a code that closed its connection: SIGKILL at once",
      [controlClosed, answerDue],
      [...begin, "closeControl", "drainLog", "kill", "reportAnswered"],
    ],
    [
      "a code that closed its connection during the grace period",
      [cancel, controlClosed, answerDue],
      [...begin, "terminate", "closeControl", "drainLog", "kill", "reportAnswered"],
    ],
  ])("%s", (_, events, actions) => {
    expect(listActions(play(handedOver, ...events))).toEqual(actions);
  });

  test("the log may be stored long before, and the room is free when they are gone", () => {
    const history = play(handedOver, answer, drained, exitDue, confirmDue);
    expect(history.state).toEqual({ name: "settled", processes: "stuck" });
    expect(history.done).not.toContain("reportEnded");
    expect(listActions(follow(history, lost)).at(-1)).toBe("reportEnded");
  });

  test("the log may be stored long after they are gone", () => {
    const history = play(handedOver, answer, exit, gone);
    expect(history.state).toMatchObject({ name: "answered", processes: "gone" });
    expect(listActions(history).at(-1)).toBe("reportEnded");
    expect(follow(history, drained).outcomes).toEqual([SUCCEEDED]);
  });
});
