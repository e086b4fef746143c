import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { describe, expect, test } from "vitest";
import { TrustedExecutable } from "../../host/trusted-executable.ts";
import { TRIAL_TIMES } from "../../host/try-twice.ts";
import { INTERPRETER } from "../../testing/python-fixture.ts";
import { findUserBounds } from "./user-bounds.ts";

const LIMITS = [
  "/bin/sh",
  "-c",
  "grep -o 'Max processes *[0-9]* *[0-9]*' /proc/self/limits; grep CapEff /proc/self/status; id -u; env",
];

function find(bubblewrap: string, processes = 4000, namespaces = 4000): ReturnType<typeof findUserBounds> {
  const executable = TrustedExecutable.vouchFor(bubblewrap, "named by the operator");
  return findUserBounds(executable, { times: TRIAL_TIMES }, () => ({ processes, namespaces }));
}

async function startBounded(processes: number, children: number): Promise<string> {
  const bounds = await find("/usr/bin/bwrap", processes);
  if (typeof bounds === "string") throw new Error(bounds);
  const { executable, args } = bounds.bound(children, LIMITS, null);
  return execFileSync(executable.path, args, { encoding: "utf8", env: { OWN: "1" } });
}

describe("of the processes that a user may have", () => {
  test.each([
    ["a quarter", 4000, 32, 1000],
    ["no more than its executions may have", 100_000, 2, 768],
    ["enough to start", 20, 32, 64],
  ])("a version gets %s", async (_, room, children, processes) => {
    expect(await startBounded(room, children)).toMatch(
      new RegExp(`^Max processes +${processes} +${processes}\n`, "u"),
    );
  });
});

describe("of the user namespaces that a user may have", () => {
  test.each([
    ["what its executions need, and a quarter", 1000, 32, 285],
    ["no more than executions need that end and begin at once", 100_000, 32, 547],
    ["enough for its executions", 20, 32, 99],
  ])("a version gets %s", async (_, room, children, namespaces) => {
    const bounds = await find("/usr/bin/bwrap", 4000, room);
    if (typeof bounds === "string") throw new Error(bounds);
    const { args } = bounds.bound(children, ["/bin/true"], null);
    expect(args).toContain(String(namespaces));
  });
});

/** Of root's processes the kernel bounds none. */
const AS_USER =
  process.getuid?.() === 0 ? ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"] : ["env"];
const [AS = "", ...AS_ARGUMENTS] = AS_USER;
/** Starts processes until there are no more, and says so. Ends with its input, and they before it. */
const GREEDY = `
import os, signal
started = []
try:
    while True:
        pid = os.fork()
        if pid == 0:
            signal.pause()
        started.append(pid)
except BlockingIOError:
    print("full", flush=True)
os.read(0, 1)
for pid in started:
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
`;

test("programs for the network of a version start also where it has all processes that it may have", async () => {
  const bounds = await find("/usr/bin/bwrap");
  if (typeof bounds === "string") throw new Error(bounds);
  const { executable, args } = bounds.bound(0, [INTERPRETER, "-I", "-S", "-c", GREEDY], null);
  const greedy = spawn(AS, [...AS_ARGUMENTS, executable.path, ...args], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  try {
    expect(String(await once(greedy.stdout, "data"))).toBe("full\n");
    const enter = ["nsenter", `--user=/proc/${greedy.pid}/ns/user`, "--preserve-credentials"];
    const inside = ["/bin/sh", "-c", "(/bin/true) && echo started"];
    const said = execFileSync(AS, [...AS_ARGUMENTS, ...enter, ...inside], { encoding: "utf8" });
    expect(said).toBe("started\n");
  } finally {
    greedy.stdin.end();
    await once(greedy, "close");
  }
});

test("a bounded program is the same user, and gets no variables but its own", async () => {
  const [, , uid, ...variables] = (await startBounded(4000, 1)).trim().split("\n");
  expect(uid).toBe(String(process.getuid?.()));
  // The shell of the test itself sets the others.
  expect(variables.filter((line) => !/^(?:PWD|SHLVL|_)=/u.test(line))).toEqual(["OWN=1"]);
});

test.runIf(process.getuid?.() !== 0)("a bounded program has no capabilities", async () => {
  expect(await startBounded(4000, 1)).toContain("CapEff:\t0000000000000000");
});

test.each([
  ["/bin/true", /^The kernel accepted a bound, and let a namespace be made beyond it\.$/u],
  ["/bin/false", /^They could not be bounded \(.+\)\.$/u],
])("where %s is in the place of a sandbox, it is said that nothing is bounded", async (program, why) => {
  expect(await find(program)).toMatch(why);
});
