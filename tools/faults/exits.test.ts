import { expect, test } from "vitest";
import { explainExit } from "./exits.ts";

const LINE = '{"level":30,"msg":"the platform is ready"}';
const RAN = { wasReady: true, code: null, signal: null, log: [LINE] };

test("a process that its watchdog ended is told apart from one that something else killed", () => {
  const said = '{"level":60,"msg":"the event loop is blocked past a lease; killing the process"}';
  expect(explainExit({ ...RAN, signal: "SIGKILL", log: [LINE, said] })).toMatchObject({ isMeant: true });
  expect(explainExit({ ...RAN, signal: "SIGKILL" })).toEqual({ isMeant: false, why: `SIGKILL: ${LINE}` });
});

test("a process that says what keeps it from starting is told apart from one that breaks while it starts", () => {
  const starting = { ...RAN, wasReady: false, code: 1 };
  expect(explainExit({ ...starting, log: [LINE, "The database cannot be used."] })).toEqual({
    isMeant: true,
    why: "it could not be started: The database cannot be used.",
  });
  const stack = ["TypeError: x is not a function", "    at start (main.ts:1:1)"];
  expect(explainExit({ ...starting, log: [LINE, ...stack] })).toEqual({
    isMeant: false,
    why: "exit status 1: TypeError: x is not a function",
  });
});

test("a process that ran and ended with whatever status is a defect", () => {
  const fatal = '{"level":60,"msg":"fatal error, exiting"}';
  expect(explainExit({ ...RAN, code: 1, log: [LINE, fatal] })).toEqual({
    isMeant: false,
    why: `exit status 1: ${fatal}`,
  });
});
