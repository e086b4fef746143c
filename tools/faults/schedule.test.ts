import { expect, test } from "vitest";
import { listTwins, planSchedule } from "./schedule.ts";
import type { Fault, Schedule } from "./schedule.ts";

const ALL = { canFillDisk: true };
const plan = (seed: number): readonly Schedule[] =>
  Array.from({ length: 500 }, (_, number) => planSchedule(seed, number, ALL));
const schedules = plan(7);
const faults: readonly Fault[] = schedules.flatMap(({ faults }) => faults);

test("a schedule follows from seed and number alone", () => {
  expect(plan(7)).toEqual(schedules);
  expect(plan(8)).not.toEqual(schedules);
});

test("five hundred schedules have every kind of fault, on every process that it can befall", () => {
  const befallen = new Set(
    faults.map((fault) => `${fault.kind} ${"target" in fault ? fault.target : "disk"}`),
  );
  const members = ["control", "gateway-1", "gateway-2", "worker-1", "worker-2"];
  const everyone = [...members, "database"];
  const expected = [
    ...[...everyone, "everything"].map((target) => `kill ${target}`),
    ...members.flatMap((target) => [`restart ${target}`, `cut ${target}`]),
    ...everyone.flatMap((target) => [`pause ${target}`, `step-clock ${target}`]),
    "fill-disk disk",
  ];
  expect([...befallen].toSorted()).toEqual(expected.toSorted());
});

test("a fault that waits for something waits for what every schedule has, and what its target has to keep", () => {
  const awaited = faults.flatMap((fault) =>
    fault.after === null || !("target" in fault) ? [] : [{ ...fault.after, target: fault.target }],
  );
  expect(awaited.length).toBeGreaterThan(faults.length / 4);
  for (const { count } of awaited) expect(count).toBeLessThanOrEqual(8);
  const ofWorkers = awaited.filter(({ target }) => target.startsWith("worker"));
  expect(new Set(ofWorkers.map(({ moment }) => moment))).toEqual(new Set(["began"]));
  const ofDatabase = awaited.filter(({ target }) => target === "database");
  expect(new Set(ofDatabase.map(({ moment }) => moment))).toEqual(new Set(["accepted", "ended"]));
});

test("nothing has two faults at a time", () => {
  for (const { faults } of schedules) {
    const targets = faults.map((fault) => ("target" in fault ? fault.target : "disk"));
    expect(new Set(targets).size).toBe(targets.length);
    const others = targets.includes("everything") ? targets.filter((target) => target !== "disk") : [];
    expect(others.length).toBeLessThanOrEqual(1);
  }
});

test("twins race at each gateway and between both, and are no batches, which a repetition goes on with", () => {
  const twins = schedules.flatMap(({ orders }) => orders).filter((order) => listTwins(order).length > 0);
  expect(twins.length).toBeGreaterThan(schedules.length);
  for (const { isKeyed, items } of twins) expect([isKeyed, items]).toEqual([true, 1]);
  for (const gateway of [0, 1])
    expect(listTwins({ isTwin: true }).filter((each) => each === gateway).length).toBeGreaterThan(1);
  expect(listTwins({ isTwin: false })).toEqual([]);
});

test("without a small disk nothing is filled, and the rest goes on", () => {
  const without = planSchedule(7, 1, { canFillDisk: false });
  expect(without.orders).toEqual(planSchedule(7, 1, ALL).orders);
  const kinds = Array.from({ length: 500 }, (_, number) => planSchedule(7, number, { canFillDisk: false }))
    .flatMap(({ faults }) => faults)
    .map(({ kind }) => kind);
  expect(kinds).not.toContain("fill-disk");
  expect(kinds.length).toBeGreaterThan(500);
});
