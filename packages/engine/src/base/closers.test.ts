import { expect, test } from "vitest";
import { createClosers } from "./closers.ts";
import type { LogFields } from "./logger.ts";
import { SILENT } from "../testing/silent-logger.ts";

/** Keeps what is logged as an error. */
function createErrorLog() {
  const errors: LogFields[] = [];
  return { ...SILENT, errors, error: (fields: LogFields) => void errors.push(fields) };
}

test("what was started last is closed first, one after the other", async () => {
  const closers = createClosers(createErrorLog());
  const order: string[] = [];
  for (const name of ["database", "server", "worker"])
    closers.add(name, async () => {
      order.push(`${name} closes`);
      await new Promise(setImmediate);
      order.push(`${name} is closed`);
    });
  await closers.closeAll();
  expect(order).toEqual([
    "worker closes",
    "worker is closed",
    "server closes",
    "server is closed",
    "database closes",
    "database is closed",
  ]);
});

test("what cannot be closed is logged with its reason, and the rest is closed all the same", async () => {
  const logger = createErrorLog();
  const closers = createClosers(logger);
  let isClosed = false;
  closers.add("database", async () => void (isClosed = true));
  closers.add("worker", () => Promise.reject(new Error("the worker does not answer")));
  closers.add("server", () => {
    throw new Error("the server throws at once");
  });
  await closers.closeAll();
  expect(isClosed).toBe(true);
  expect(logger.errors).toEqual([
    { err: new Error("the server throws at once"), name: "server" },
    { err: new Error("the worker does not answer"), name: "worker" },
  ]);
});

test("whoever asks while it closes waits for the same end, and nothing is closed twice", async () => {
  const closers = createClosers(createErrorLog());
  let closes = 0;
  let isClosed = false;
  closers.add("database", async () => {
    closes += 1;
    await new Promise(setImmediate);
    isClosed = true;
  });
  void closers.closeAll();
  await closers.closeAll();
  expect(isClosed).toBe(true);
  await closers.closeAll();
  expect(closes).toBe(1);
});

test("what is added while it closes is closed as well", async () => {
  const closers = createClosers(createErrorLog());
  let isClosed = false;
  closers.add("starting", async () => closers.add("late", async () => void (isClosed = true)));
  await closers.closeAll();
  expect(isClosed).toBe(true);
});
