import { describe, expect, test } from "vitest";
import { PREPARING, reduceClaim } from "./claim-machine.ts";
import { VERSION } from "../testing/version.ts";
import type { ClaimEffect, ClaimEvent, ClaimState, StopReason } from "./claim-machine.ts";

const READY: ClaimEvent = {
  type: "prepared",
  preparation: { kind: "ready", version: VERSION, input: { body: Buffer.from("{}") } },
};
const FAULT: ClaimEvent = {
  type: "prepared",
  preparation: { kind: "fault", scope: "worker", cause: new Error("The disk is full.") },
};
const NO_FILE: ClaimEvent = {
  type: "prepared",
  preparation: { kind: "outcome", outcome: { status: "FAILED", code: "NO_FILE", detail: "It is gone." } },
};
const BEGAN: ClaimEvent = { type: "began" };
const GONE: ClaimEvent = { type: "gone" };
const WRITTEN: ClaimEvent = { type: "written" };
const BROKEN: ClaimEvent = { type: "broken" };
const SUCCEEDED: ClaimEvent = {
  type: "answered",
  answer: { status: "SUCCEEDED", result: Buffer.from("1"), metadata: null },
};
const FAILED: ClaimEvent = {
  type: "answered",
  answer: { status: "FAILED", code: "EXECUTION_ERROR", detail: "ValueError: no" },
};
const NOT_STARTED: ClaimEvent = {
  type: "answered",
  answer: { status: "NOT_STARTED", scope: "version", detail: "No process came." },
};
const stopped = (reason: StopReason): ClaimEvent => ({ type: "stop", reason });

function describeEffect(effect: ClaimEffect): string {
  if (effect.type !== "write") return effect.type;
  const { ending } = effect;
  if (ending.kind === "fault") return `write fault of the ${ending.scope}`;
  if (ending.kind === "stopped") return "write stopped";
  const { outcome } = ending;
  if (outcome.status !== "SUCCEEDED" && "mayRetry" in ending && ending.mayRetry)
    return `write ${outcome.code}, or retry`;
  return `write ${outcome.status === "SUCCEEDED" ? outcome.status : outcome.code}`;
}

function play(events: readonly ClaimEvent[]): { name: ClaimState["name"]; effects: readonly string[] } {
  const effects: string[] = [];
  let state = PREPARING;
  for (const event of events) {
    const step = reduceClaim(state, event);
    state = step.state;
    effects.push(...step.effects.map(describeEffect));
  }
  return { name: state.name, effects };
}

describe("a claim", () => {
  test.each<[string, readonly ClaimEvent[], ClaimState["name"], readonly string[]]>([
    [
      "is prepared, run and written, and leaves when its processes are gone",
      [READY, BEGAN, SUCCEEDED, WRITTEN, GONE],
      "over",
      ["handOver", "noteStarted", "write SUCCEEDED", "release", "free", "leave"],
    ],
    [
      "frees its capacity as soon as its processes are gone, also before its outcome is known",
      [READY, BEGAN, GONE, SUCCEEDED, WRITTEN],
      "over",
      ["handOver", "noteStarted", "free", "write SUCCEEDED", "release", "leave"],
    ],
    [
      "whose input is missing is never handed over",
      [NO_FILE, WRITTEN],
      "over",
      ["write NO_FILE", "release", "free", "leave"],
    ],
    [
      "that could not be prepared goes back",
      [FAULT, WRITTEN],
      "over",
      ["write fault of the worker", "release", "free", "leave"],
    ],
    [
      "that Python could not start goes back",
      [READY, NOT_STARTED, GONE, WRITTEN],
      "over",
      ["handOver", "write fault of the version", "free", "release", "leave"],
    ],
    [
      "that is cancelled while it is prepared ends CANCELLED, whatever the preparation comes to",
      [stopped("cancelled"), READY, WRITTEN],
      "over",
      ["stopPreparing", "write CANCELLED", "release", "free", "leave"],
    ],
    [
      "that is cancelled before it began ends CANCELLED",
      [READY, stopped("cancelled"), NOT_STARTED],
      "writing",
      ["handOver", "kill", "write CANCELLED"],
    ],
    [
      "that ended before its cancellation reached it keeps its outcome",
      [READY, BEGAN, SUCCEEDED, stopped("cancelled"), WRITTEN],
      "leaving",
      ["handOver", "noteStarted", "write SUCCEEDED", "release"],
    ],
    [
      "that failed may be tried again",
      [READY, BEGAN, FAILED, stopped("cancelled"), WRITTEN],
      "leaving",
      ["handOver", "noteStarted", "write EXECUTION_ERROR, or retry", "release"],
    ],
    [
      "that failed while it was being cancelled is not tried again",
      [READY, BEGAN, stopped("cancelled"), FAILED, WRITTEN],
      "leaving",
      ["handOver", "noteStarted", "kill", "write EXECUTION_ERROR", "release"],
    ],
    [
      "that failed while the worker stops may be tried again elsewhere",
      [READY, BEGAN, stopped("stopping"), FAILED],
      "writing",
      ["handOver", "noteStarted", "write EXECUTION_ERROR, or retry"],
    ],
    [
      "goes back at once where the worker stops while it is prepared",
      [stopped("stopping"), FAULT],
      "writing",
      ["stopPreparing", "write stopped"],
    ],
    [
      "goes back at once where the worker stops before it began",
      [READY, stopped("stopping"), NOT_STARTED],
      "writing",
      ["handOver", "write stopped"],
    ],
    [
      "that began while the worker stopped keeps its outcome",
      [READY, stopped("stopping"), BEGAN, SUCCEEDED],
      "writing",
      ["handOver", "noteStarted", "write SUCCEEDED"],
    ],
    [
      "that is lost while it is prepared writes nothing",
      [stopped("lost"), READY],
      "over",
      ["logLost", "stopPreparing", "release", "free", "leave"],
    ],
    [
      "that is lost while it runs is killed and writes nothing",
      [READY, BEGAN, stopped("lost"), SUCCEEDED, GONE],
      "over",
      ["handOver", "noteStarted", "logLost", "kill", "release", "free", "leave"],
    ],
    [
      "is lost though it was cancelled before, and not cancelled after",
      [READY, stopped("cancelled"), stopped("lost"), stopped("cancelled"), NOT_STARTED],
      "leaving",
      ["handOver", "kill", "logLost", "kill", "release"],
    ],
    [
      "that is lost while its outcome is written is tried no more, and not called lost in the log",
      [READY, BEGAN, SUCCEEDED, stopped("lost")],
      "dropping",
      ["handOver", "noteStarted", "write SUCCEEDED"],
    ],
    [
      "says that its version starts, also when that comes after its outcome",
      [READY, SUCCEEDED, BEGAN],
      "writing",
      ["handOver", "write SUCCEEDED", "noteStarted"],
    ],
    ["leaves where our own code broke", [READY, BROKEN], "over", ["handOver", "release", "free", "leave"]],
    [
      "leaves once, whatever comes later",
      [FAULT, WRITTEN, WRITTEN, GONE, SUCCEEDED, FAULT, BROKEN, stopped("lost")],
      "over",
      ["write fault of the worker", "release", "free", "leave"],
    ],
  ])("%s", (_what, events, name, effects) => {
    expect(play(events)).toEqual({ name, effects });
  });
});
