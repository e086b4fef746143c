import { NEW, reduceTake } from "../queue/take-machine.ts";
import type { TakeEvent, TakeState } from "../queue/take-machine.ts";
import { VERSION } from "./version.ts";
import { isStarting, PREPARING, reduceClaim } from "../worker/claim-machine.ts";
import type { ClaimEffect, ClaimEvent, ClaimState, StopReason } from "../worker/claim-machine.ts";
import { createDispatchState, readFree, reduceDispatch } from "../worker/dispatch-machine.ts";
import type { DispatchEffect, DispatchEvent, DispatchState } from "../worker/dispatch-machine.ts";

/*
 * A worker made of its three machines (queue, worker, claim), and the world around them: a store, Python and an owner that do only what
 * they may do, in any order. It lists which promises were broken.
 */

const CAPACITY = { cpu: 0.3, memory: 3 };
const SIZES = [
  { cpu: 0.1, memory: 1 },
  { cpu: 0.2, memory: 0.5 },
  { cpu: 0.3, memory: 3 },
] as const;

/** What happens to the claim that `which` points to, if it can. */
const CLAIM_MOVES = {
  "gets ready": (claim: ModelClaim) => claim.prepare("ready"),
  "does not get ready": (claim: ModelClaim) => claim.prepare("fault"),
  "has no input": (claim: ModelClaim) => claim.prepare("outcome"),
  begins: (claim: ModelClaim) => claim.begin(),
  answers: (claim: ModelClaim) => claim.answer(),
  "has its processes gone": (claim: ModelClaim) => claim.go(),
  "is written": (claim: ModelClaim) => claim.write(),
  "is cancelled": (claim: ModelClaim) => claim.stop("cancelled"),
  "is lost": (claim: ModelClaim) => claim.stop("lost"),
};

const WORKER_MOVES = [
  "start",
  "announce",
  "claims come",
  "none come",
  "claiming fails",
  "pause ends",
  "time is over",
  "kill",
  "drain",
  "close",
] as const;

type WorkerMove = (typeof WORKER_MOVES)[number];
export type ModelMove = WorkerMove | keyof typeof CLAIM_MOVES;

const CLAIM_MOVE_NAMES = [
  "gets ready",
  "gets ready",
  "does not get ready",
  "has no input",
  "begins",
  "answers",
  "has its processes gone",
  "is written",
  "is cancelled",
  "is lost",
] as const satisfies readonly (keyof typeof CLAIM_MOVES)[];

/** While a worker works, and while it stops: a stop is rare in the first, and passes through all its steps in the second. */
export const WORKING_MOVES: readonly ModelMove[] = [
  ...Array.from({ length: 4 }, () => ["start", "announce", "claims come", "claims come"] as const).flat(),
  ...CLAIM_MOVE_NAMES,
  ...CLAIM_MOVE_NAMES,
  ...WORKER_MOVES,
];
export const STOPPING_MOVES: readonly ModelMove[] = [...CLAIM_MOVE_NAMES, ...WORKER_MOVES, ...WORKER_MOVES];

type Demand = (isKept: boolean, promise: string) => void;

/** Of a claim's worker. */
interface ClaimHost {
  readonly demand: Demand;
  readonly dispatch: (event: DispatchEvent) => void;
}

interface ModelClaim {
  readonly isLeft: () => boolean;
  readonly isFreed: () => boolean;
  readonly resources: (typeof SIZES)[number];
  readonly prepare: (kind: "ready" | "fault" | "outcome") => void;
  readonly begin: () => void;
  readonly answer: () => void;
  readonly go: () => void;
  readonly write: () => void;
  readonly stop: (reason: StopReason) => void;
  readonly stopStarting: () => void;
}

const PREPARATIONS = {
  ready: { kind: "ready", version: VERSION, input: { body: new Uint8Array() } },
  fault: { kind: "fault", scope: "worker", cause: null },
  outcome: { kind: "outcome", outcome: { status: "FAILED", code: "NO_INPUT", detail: "" } },
} as const;

function createModelClaim(resources: ModelClaim["resources"], { demand, dispatch }: ClaimHost): ModelClaim {
  let state: ClaimState = PREPARING;
  /** What the world has done with it, and what it was told. */
  const done = new Set<string>();
  const asked: string[] = [];
  const count = (what: string) => asked.filter((each) => each === what).length;
  const has = (what: string) => asked.includes(what);

  const play = (event: ClaimEvent) => {
    const step = reduceClaim(state, event);
    state = step.state;
    for (const effect of step.effects) perform(effect);
  };
  const perform = (effect: ClaimEffect) => {
    asked.push(effect.type);
    // What was cancelled may be lost as well.
    const times = effect.type === "kill" || effect.type === "stopPreparing" ? 2 : 1;
    demand(count(effect.type) <= times, `${effect.type} once`);
    demand(
      !has("leave") || effect.type === "leave" || effect.type === "noteStarted",
      "nothing after it left",
    );
    check(effect);
    if (effect.type === "free") dispatch({ type: "freed", resources });
    if (effect.type === "leave") dispatch({ type: "left" });
  };
  const check = (effect: ClaimEffect) => {
    const isGone = !has("handOver") || done.has("gone");
    if (effect.type === "handOver")
      demand(!done.has("lost") && !done.has("cancelled") && !done.has("stopping"), "no start after a stop");
    if (effect.type === "write") {
      demand(!done.has("lost"), "nothing is written of what is lost");
      demand(!done.has("began") || effect.ending.kind === "outcome", "what began does not go back");
      demand(effect.ending.kind !== "stopped" || done.has("stopping"), "goes back as stopped when it was");
      const isStopped = done.has("stopping") || done.has("cancelled");
      demand(effect.ending.kind !== "fault" || !isStopped, "a stop is no fault");
    }
    if (effect.type === "release")
      demand(done.has("written") || done.has("lost"), "a lease is kept to the end");
    if (effect.type === "release" && has("write")) demand(done.has("written"), "and while it is written");
    if (effect.type === "free") demand(isGone, "capacity is free when no process is left");
    if (effect.type === "leave") demand(has("release") && has("free"), "released and free when it leaves");
    if (effect.type === "kill") demand(has("handOver") && !has("write"), "only what runs is killed");
  };
  /** The world does it at most once, and only where it can. */
  const once = (what: string, canBe: boolean, event: ClaimEvent) => {
    if (!canBe || done.has(what)) return;
    done.add(what);
    play(event);
  };
  const stop = (reason: StopReason) => {
    if (!has("release")) once(reason, true, { type: "stop", reason });
  };
  return {
    resources,
    isLeft: () => has("leave"),
    isFreed: () => has("free"),
    prepare: (kind) => once("prepared", true, { type: "prepared", preparation: PREPARATIONS[kind] }),
    begin: () => once("began", has("handOver") && !done.has("answered"), { type: "began" }),
    answer: () =>
      once("answered", has("handOver"), {
        type: "answered",
        answer: done.has("began")
          ? { status: "SUCCEEDED", result: new Uint8Array(), metadata: null }
          : { status: "NOT_STARTED", scope: "worker", detail: "" },
      }),
    go: () => once("gone", has("handOver"), { type: "gone" }),
    write: () => once("written", has("write"), { type: "written" }),
    stop,
    stopStarting: () => {
      if (isStarting(state)) stop("stopping");
    },
  };
}

export interface WorkerModel {
  readonly play: (move: ModelMove, which: number) => void;
  /** Stops it as its owner does and lets all that is under way end; lists the promises that were broken. */
  readonly finish: () => readonly string[];
}

export function createWorkerModel(): WorkerModel {
  const broken: string[] = [];
  const claims: ModelClaim[] = [];
  const effects: DispatchEffect[] = [];
  let queue: TakeState = NEW;
  let worker: DispatchState = createDispatchState(CAPACITY);
  let takes = 0;
  let pauses = 0;
  let isOver = false;

  const demand: Demand = (isKept, promise) => {
    if (!isKept) broken.push(promise);
  };
  const has = (effect: DispatchEffect) => effects.includes(effect);
  const playQueue = (event: TakeEvent) => {
    const step = reduceTake(queue, event);
    queue = step.state;
    for (const { type } of step.effects) {
      if (type === "take") {
        takes++;
        demand(has("openQueue") && !has("leaveQueue"), "claims between start and drain only");
      }
      if (type === "pause") pauses++;
      if (type === "end") dispatch({ type: "queueLeft" });
    }
  };
  const dispatch = (event: DispatchEvent) => {
    const step = reduceDispatch(worker, event);
    worker = step.state;
    for (const effect of step.effects) perform(effect);
  };
  const perform = (effect: DispatchEffect) => {
    demand(effect === "look" || !has(effect), `${effect} once`);
    effects.push(effect);
    if (effect === "openQueue") playQueue({ type: "opened" });
    if (effect === "look") playQueue({ type: "freed" });
    if (effect === "leaveQueue") playQueue({ type: "closed" });
    if (effect === "stopStarting") for (const claim of claims) claim.stopStarting();
    if (effect === "drained") demand(queue.name === "closed", "drained when no claim is under way");
    if (effect === "drained")
      demand(
        isOver || claims.every((claim) => claim.isLeft()),
        "drained when nothing is in hand or time is over",
      );
    if (effect === "closed") {
      demand(has("drained"), "closed after it is drained");
      demand(
        isOver || claims.every((claim) => claim.isLeft()),
        "closed when nothing is in hand or time is over",
      );
    }
  };
  const check = () => {
    const free = readFree(worker);
    const used = claims.filter((claim) => !claim.isFreed());
    const sum = (what: "cpu" | "memory") => used.reduce((total, each) => total + each.resources[what], 0);
    for (const what of ["cpu", "memory"] as const) {
      demand(free[what] >= 0 && free[what] <= CAPACITY[what], `free ${what} is within the capacity`);
      demand(Math.abs(free[what] + sum(what) - CAPACITY[what]) < 1e-9, `what is not used of ${what} is free`);
    }
    demand(worker.inHand === claims.filter((claim) => !claim.isLeft()).length, "it knows what is in hand");
    demand(takes <= 1, "one claim at a time");
    const isWaiting = worker.phase === "waiting" || worker.phase === "finishing";
    demand(!isWaiting || worker.inHand > 0, "it waits for something");
  };
  const claimSome = (which: number) => {
    if (takes === 0) return;
    takes--;
    // The store gives what fits together.
    let { cpu, memory } = readFree(worker);
    for (const resources of [SIZES[which % 3], SIZES[(which >> 1) % 3]]) {
      if (resources === undefined || resources.cpu > cpu || resources.memory > memory) continue;
      cpu = Math.round((cpu - resources.cpu) * 1_000) / 1_000;
      memory -= resources.memory;
      dispatch({ type: "claimed", resources });
      claims.push(createModelClaim(resources, { demand, dispatch }));
    }
    playQueue({ type: "taken", left: which > 3 ? "something" : "unknown" });
  };
  const answerTake = (event: TakeEvent) => {
    if (takes === 0) return;
    takes--;
    playQueue(event);
  };
  const endTime = () => {
    if (worker.phase !== "waiting" && worker.phase !== "finishing") return;
    isOver = true;
    dispatch({ type: "timeOver" });
  };
  const endPause = () => {
    if (pauses === 0) return;
    pauses--;
    playQueue({ type: "paused" });
  };
  const moves: Readonly<Record<WorkerMove, (which: number) => void>> = {
    start: () => dispatch({ type: "start" }),
    announce: () => playQueue({ type: "announced" }),
    "claims come": claimSome,
    "none come": () => answerTake({ type: "taken", left: "nothing" }),
    "claiming fails": () => answerTake({ type: "failed" }),
    "pause ends": endPause,
    "time is over": endTime,
    kill: () => {
      if (worker.phase === "waiting") isOver = true;
      dispatch({ type: "kill" });
    },
    drain: () => dispatch({ type: "drain" }),
    close: () => {
      isOver = false;
      dispatch({ type: "close" });
    },
  };
  const endClaim = (claim: ModelClaim) => {
    claim.prepare("fault");
    claim.answer();
    claim.go();
    claim.write();
  };
  const finish = (): readonly string[] => {
    moves.drain(0);
    answerTake({ type: "taken", left: "something" });
    endTime();
    // The owner closes the runtime.
    for (const claim of claims) endClaim(claim);
    moves.close(0);
    check();
    demand(has("drained") && has("closed"), "it stops");
    demand(
      claims.every((claim) => claim.isLeft()),
      "every claim leaves",
    );
    demand(worker.phase === "closed" && worker.inHand === 0, "nothing is left");
    return [...new Set(broken)];
  };
  return {
    play: (move, which) => {
      if (isWorkerMove(move)) moves[move](which);
      else {
        const claim = claims[which % Math.max(1, claims.length)];
        if (claim !== undefined) CLAIM_MOVES[move](claim);
      }
      check();
    },
    finish,
  };
}

function isWorkerMove(move: ModelMove): move is WorkerMove {
  return WORKER_MOVES.some((each) => each === move);
}
