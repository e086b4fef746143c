import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { fail, notStarted } from "../child/answers.ts";
import type { PoolEvent } from "./pool-state.ts";
import { closed, exit, full, gone, play, playWith, refused, report } from "../../testing/play-pool.ts";
import { PoolWorld } from "../../testing/pool-world.ts";
import type { PoolMove } from "../../testing/pool-moves.ts";

const FAULT = fail("STARTUP_ERROR", "no licence");
const BROKEN = { outcome: FAULT, lines: [] };

const submit = (execution: number): PoolEvent => ({ type: "submit", execution });
const connected = (child: number): PoolEvent => ({ type: "connected", child, failure: null });
const connectedBroken = (child: number): PoolEvent => ({ type: "connected", child, failure: BROKEN });
const READY = report({ event: "ready", mode: "fork" });
const SPAWN_READY = report({ event: "ready", mode: "spawn" });
const UNSAFE = report({ event: "unsafe", reason: "a thread was started" });
const TICK: PoolEvent = { type: "tick", memory: "ample" };
const TIGHT: PoolEvent = { type: "tick", memory: "tight" };
const TRIM: PoolEvent = { type: "trim" };
const ANSWERED: PoolEvent = { type: "answered" };
const STUCK: PoolEvent = { type: "stuck" };
const RETIRE: PoolEvent = { type: "retire" };
const CLOSE: PoolEvent = { type: "close" };
/** One execution waits for child 2, a fresh interpreter. */
const SPAWNING: readonly PoolEvent[] = [submit(1), UNSAFE, closed(), SPAWN_READY];
/** Four executions, of which three get an interpreter that could not import the project; child 5 comes up. */
const UNIMPORTABLE = [...SPAWNING, ...[2, 3, 4].map(submit), ...[2, 3, 4].map(connectedBroken)];
/** Three at once, then one at a time: in the next period, and in the one after it. */
const BURST = [submit(1), submit(2), submit(3), READY, ...[1, 2, 3].map(connected), ANSWERED];
const LATER = [190, submit(4), 201, TICK, 390, ANSWERED, exit(6), gone(6), connected(7), 402, TICK];
const FULL = "Memory that ended executions have left keeps all control groups of the version from use.";

/** One execution runs, two children are idle. */
const WARM = [submit(1), READY, ...[1, 2, 3].map(connected)];
const PREPARE: PoolEvent = { type: "prepare" };

/** Boots that fail because of the project, each as soon as it is tried again. */
function failures(count: number): ReadonlyArray<PoolEvent | number> {
  return [0, 50, 100, 400, 900, 1400].slice(0, count).flatMap((time) => [time, submit(1), closed(FAULT)]);
}

describe("a pool", () => {
  test.each<readonly [string, string, string]>([
    ["boots a zygote for the first execution", play(submit(1)), "boot auto, fork 1"],
    ["orders a child for each that waits", play(submit(1), submit(2)), "fork 2"],
    [
      "orders no more children than can exist, and the next one when one is gone",
      playWith({ maxChildren: 2 }, [submit(1), submit(2), submit(3), connected(1), exit(1), gone(1)]),
      "gone 1, fork 3",
    ],
    ["makes children ahead once it can fork", play(submit(1), READY), "fork 2, fork 3"],
    ["gives a child to who waits longest", play(submit(1), submit(2), READY, connected(2)), "child 2 runs 1"],
    [
      "gives an idle child at once",
      play(submit(1), READY, connected(1), connected(2), submit(2)),
      "child 2 runs 2",
    ],
    [
      "makes the next child when an answer is there",
      play(submit(1), connected(1), READY, connected(2), submit(2), connected(3), ANSWERED),
      "fork 4",
    ],
    [
      "starts a fresh interpreter for each where forking is unsafe",
      play(submit(1), UNSAFE, closed()),
      "boot spawn, fork 2",
    ],
    [
      "does not boot a broken project again at once",
      play(submit(1), closed(FAULT), 49, submit(2)),
      "refuse 2: no licence",
    ],
    [
      "tries a broken project again after a while",
      play(submit(1), closed(FAULT), 50, submit(2)),
      "boot auto, fork 2",
    ],
    [
      "parks a project that failed three times in a row",
      play(...failures(3)),
      "refuse 1: no licence, log: a version is parked: it failed to start again and again",
    ],
    [
      "refuses at once what comes to a parked project",
      play(...failures(3), 399, submit(2)),
      "refuse 2: no licence",
    ],
    [
      "tries a parked project again when its time is over",
      play(...failures(3), 400, submit(2)),
      "boot auto, fork 4",
    ],
    ["parks it for longer each time", play(...failures(4), 899, submit(2)), "refuse 2: no licence"],
    ["parks it no longer than the most", play(...failures(6), 1900, submit(2)), "boot auto, fork 7"],
    [
      "says that a parked project has started, and counts from 0 again",
      play(...failures(3), 400, submit(2), READY, closed(), closed(FAULT)),
      "refuse 2: no licence",
    ],
    [
      "gives the execution a fresh interpreter that could not import the project: its log says why",
      play(...SPAWNING, connectedBroken(2)),
      "child 2 runs 1, fork 3",
    ],
    [
      "parks a project that three fresh interpreters in a row could not import, and makes none ahead",
      play(...UNIMPORTABLE),
      "log: a version is parked: it failed to start again and again, child 4 runs 3, refuse 4: no licence",
    ],
    [
      "refuses at once what comes to it then",
      play(...UNIMPORTABLE, 299, ANSWERED, 299, submit(5)),
      "refuse 5: no licence",
    ],
    ["makes none ahead for it when an answer is there", play(...UNIMPORTABLE, ANSWERED), ""],
    [
      "counts interpreters once that could not import it at the same time, for what they all lacked",
      play(...SPAWNING, submit(2), submit(3), ...[2, 3, 4].flatMap((id) => [id, connectedBroken(id)])),
      "child 4 runs 3, fork 5, fork 6, fork 7",
    ],
    [
      "counts on in the next zygote, which has imported nothing itself",
      play(
        ...SPAWNING,
        submit(2),
        connectedBroken(2),
        connectedBroken(3),
        closed(),
        submit(3),
        SPAWN_READY,
        connectedBroken(6),
      ),
      "log: a version is parked: it failed to start again and again, child 6 runs 3",
    ],
    [
      "tries again when its time is over, and keeps nothing that could not import it meanwhile",
      play(...UNIMPORTABLE, 299, connectedBroken(5), exit(5), gone(5), 300, submit(5)),
      "fork 6",
    ],
    ["ends what could not import it meanwhile", play(...UNIMPORTABLE, connectedBroken(5)), "disconnect 5"],
    [
      "believes a fork no such word",
      play(submit(1), submit(2), submit(3), READY, ...[1, 2, 3, 4].map(connectedBroken), submit(4)),
      "child 4 runs 4",
    ],
    [
      "counts from 0 again once an interpreter could import it",
      play(...UNIMPORTABLE.slice(0, -1), connected(4), connectedBroken(5)),
      "child 5 runs 4, fork 6, fork 7, fork 8, fork 9",
    ],
    [
      "counts fresh interpreters that end while they import",
      play(...SPAWNING, ...[2, 3, 4].flatMap((id) => [submit(id), exit(id, 1), gone(id)]), submit(9)),
      "refuse 9: The process ended while it was starting; user code may have ended it at import.",
    ],
    [
      "tries again at once when the machine was at fault",
      play(submit(1), closed(notStarted("worker", "no disk")), submit(2)),
      "boot auto, fork 2",
    ],
    [
      "gives up after four zygotes without one child",
      play(submit(1), closed(), closed(), closed(), closed()),
      "refuse 1: The zygote ends again and again before a child is ready.",
    ],
    [
      "ends who waits first when no child could be made",
      play(submit(1), submit(2), READY, refused(1)),
      "forget 1, refuse 1: The system refused a process: EAGAIN",
    ],
    [
      "ends who waits first when a child ends before it is ready",
      play(submit(1), READY, exit(1, 70), gone(1)),
      "replace: a child did not come up, forget 1, refuse 1: A process ended before it was ready.",
    ],
    ["believes no end of a process before its exit", play(submit(1), connected(1), gone(1)), ""],
    [
      "ends nothing when no group is free for a child: another zygote is wanted, and the execution goes back",
      play(...WARM, submit(2), submit(3), submit(4), full(4)),
      `forget 4, replace: ${FULL}, refuse 4: ${FULL}`,
    ],
    ["believes no refusal of a child that has connected", play(submit(1), connected(1), refused(1)), ""],
    [
      "passes on how a process ended, and that all of it is gone",
      play(submit(1), connected(1), exit(1), gone(1)),
      "gone 1",
    ],
    [
      "closes what an idle child held that is said to have exited",
      play(submit(1), READY, connected(1), connected(2), exit(2)),
      "disconnect 2",
    ],
    [
      "gives nothing to a child that is said to have exited",
      play(submit(1), READY, exit(1), connected(1)),
      "disconnect 1",
    ],
    ["counts the time of a child from when its zygote was ready", play(submit(1), 90, READY, 150, TICK), ""],
    [
      "kills a child that is late",
      play(submit(1), READY, 100, TICK, 101, TICK),
      "signal 1 9, signal 2 9, signal 3 9",
    ],
    [
      "gives nothing to a child that was killed because it was late",
      play(submit(1), READY, 101, TICK, connected(1)),
      "disconnect 1",
    ],
    [
      "says that a child was late",
      play(submit(1), READY, 101, TICK, exit(1, null), gone(1)),
      "forget 1, refuse 1: A process was not ready within 0.1 s.",
    ],
    [
      "kills a zygote that does not even end a child",
      play(submit(1), READY, 101, TICK, 121, TICK),
      "signal 1 9, kill",
    ],
    ["kills the sandbox of processes that do not end", play(submit(1), connected(1), STUCK), "kill"],
    [
      "gives nothing to a zygote that was killed",
      play(submit(1), READY, connected(1), connected(2), STUCK, submit(2)),
      "",
    ],
    [
      "boots another for those who waited meanwhile",
      play(submit(1), READY, connected(1), STUCK, submit(2), closed()),
      "lost 1: The worker's process ended with exit code 3 while the execution ran., boot auto, fork 4",
    ],
    ["makes as many children ahead as ran at once of late", play(...BURST), "fork 6"],
    [
      "makes as many fresh interpreters ahead as ran at once of late",
      play(...SPAWNING, submit(2), connected(2), connected(3)),
      "child 3 runs 2, fork 4, fork 5",
    ],
    [
      "makes one fresh interpreter ahead for who comes one at a time",
      play(...SPAWNING, connected(2)),
      "child 2 runs 1, fork 3",
    ],
    [
      "makes the least ahead while memory is tight",
      play(...SPAWNING, submit(2), connected(2), TIGHT, connected(3)),
      "child 3 runs 2, fork 4",
    ],
    [
      "keeps fewer children once fewer ran at once for two periods",
      play(
        ...BURST,
        ...[4, 5, 6].map(connected),
        ...[1, 2, 3].flatMap((id) => [exit(id), gone(id)]),
        ...LATER,
      ),
      "disconnect 4",
    ],
    [
      "ends idle children when memory is scarce",
      play(submit(1), READY, ...[1, 2, 3].map(connected), exit(1), gone(1), TRIM),
      "disconnect 2, disconnect 3",
    ],
    [
      "keeps its children when memory is scarce while something runs",
      play(submit(1), READY, ...[1, 2, 3].map(connected), TRIM),
      "",
    ],
    ["asks for another zygote when it is old", play(...WARM, 3001, TICK), "replace: it has reached its age"],
    [
      "asks again after a while, in case the other one could not be had",
      play(...WARM, 3001, TICK, 3400, TICK, 3402, TICK),
      "replace: it has reached its age",
    ],
    ["does not ask in between", play(...WARM, 3001, TICK, 3400, TICK), ""],
    ["asks for no other one when it is to end", play(...WARM, RETIRE, 3001, TICK), ""],
    ["makes a child now and then, to see whether it still can", play(...WARM, 251, TICK), "fork 4"],
    ["makes none while one comes up", play(...WARM, 251, TICK, 252, TICK), ""],
    [
      "asks for another zygote when that child does not come up",
      play(...WARM, 251, TICK, 312, TICK),
      "replace: a child does not come up",
    ],
    [
      "asks for another zygote when a child ends before it is ready",
      play(...WARM, 251, TICK, exit(4, 70), gone(4)),
      "replace: a child did not come up, forget 4",
    ],
    ["starts a zygote ahead of the first execution", play(PREPARE), "boot auto"],
    ["makes children ahead in it as in any other", play(PREPARE, READY), "fork 1, fork 2"],
    [
      "ends no children that were made ahead because the import took long",
      play(PREPARE, 250, READY, connected(1), 251, TICK),
      "",
    ],
    [
      "ends children that idle",
      play(submit(1), READY, ...[1, 2, 3].map(connected), exit(1), gone(1), 201, TICK),
      "disconnect 2, disconnect 3",
    ],
    [
      "ends a zygote that idles",
      play(submit(1), READY, ...[1, 2, 3].map(connected), exit(1), gone(1), 1001, TICK),
      "disconnect 2, disconnect 3, stop",
    ],
    [
      "retires when nothing runs any more",
      play(submit(1), connected(1), RETIRE, exit(1), gone(1)),
      "gone 1, stop",
    ],
    [
      "has retired when its zygote has ended",
      play(submit(1), connected(1), RETIRE, exit(1), gone(1), closed()),
      "closed",
    ],
    [
      "retires also when the boot fails that executions wait for",
      play(submit(1), RETIRE, closed(FAULT)),
      "refuse 1: no licence, closed",
    ],
    ["closes at once without a zygote", play(CLOSE), "closed"],
    [
      "refuses who waits when it is closed",
      play(submit(1), CLOSE),
      "refuse 1: The worker was stopped before the execution began., stop",
    ],
    [
      "loses what runs when it is closed",
      play(submit(1), connected(1), CLOSE, closed()),
      "lost 1: The worker was stopped while the execution ran., closed",
    ],
    [
      "refuses what comes later",
      play(CLOSE, submit(1)),
      "refuse 1: The worker was stopped before the execution began.",
    ],
  ])("%s", (_, effects, expected) => expect(effects).toBe(expected));
});

const PICK = fc.nat({ max: 9 });
/** What ends much of a pool's life is rare, so that long lives are played as well. */
const MOVES: fc.Arbitrary<PoolMove> = fc.oneof(
  { weight: 12, arbitrary: fc.constant(["submit"] as const) },
  { weight: 14, arbitrary: fc.tuple(fc.constant("connect" as const), PICK) },
  { weight: 4, arbitrary: fc.tuple(fc.constant("connectFailed" as const), PICK) },
  { weight: 14, arbitrary: fc.tuple(fc.constantFrom("exit" as const, "gone" as const), PICK) },
  {
    weight: 4,
    arbitrary: fc.tuple(fc.constantFrom("withdraw" as const, "refused" as const, "full" as const), PICK),
  },
  {
    weight: 6,
    arbitrary: fc.tuple(fc.constant("ready" as const), fc.constantFrom("fork" as const, "spawn" as const)),
  },
  { weight: 6, arbitrary: fc.tuple(fc.constant("tick" as const), fc.constantFrom(10, 40, 110)) },
  { weight: 2, arbitrary: fc.tuple(fc.constant("tick" as const), fc.constantFrom(250, 1100)) },
  {
    weight: 4,
    arbitrary: fc.tuple(
      fc.constant("closed" as const),
      fc.constantFrom("fault" as const, "refusal" as const, "none" as const),
    ),
  },
  { weight: 6, arbitrary: fc.constant(["answered"] as const) },
  { weight: 2, arbitrary: fc.constantFrom(["trim"] as const, ["prepare"] as const) },
  { weight: 1, arbitrary: fc.constantFrom(["unsafe"] as const, ["stuck"] as const) },
  { weight: 1, arbitrary: fc.constantFrom(["retire"] as const, ["close"] as const) },
);

describe("a pool keeps its promises whatever the order of events", () => {
  const lives = fc.array(MOVES, { maxLength: 60, size: "max" });

  test("from the first execution to its end", () => {
    fc.assert(
      fc.property(lives, (moves) => {
        const world = new PoolWorld();
        for (const move of moves) world.play(move);
        world.finish();
        expect(world.state.phase).toEqual({ name: "closed" });
      }),
      { numRuns: 2000 },
    );
  });

  test("and who waits is served as soon as the zygote does its part", () => {
    fc.assert(
      fc.property(lives, (moves) => {
        const world = new PoolWorld();
        for (const move of moves) world.play(move);
        world.deliver();
        expect(world.state.queue).toEqual([]);
      }),
      { numRuns: 1000 },
    );
  });
});
