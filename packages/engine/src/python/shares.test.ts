import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ATTACKED_LEVELS, createAttackedFixture } from "../testing/attack-levels.ts";
import { waitFor } from "../testing/python-fixture.ts";
import type { Fixture } from "../testing/python-fixture.ts";
import type { RunnableVersion } from "./port/runtime.ts";

/** Takes as many of something as it is given, or as many as it is asked to, keeps them for a while, and returns how many there were. */
const PROGRAM = `
import ctypes, os, resource, signal, sys, time

libc = ctypes.CDLL(None, use_errno=True)

def watch(most):
    taken = 0
    while taken < most and libc.inotify_init() >= 0:
        taken += 1
    return taken

def queue_signals(most):
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGRTMIN})
    taken = 0
    while taken < most and libc.sigqueue(os.getpid(), int(signal.SIGRTMIN), 0) == 0:
        taken += 1
    return taken

def watch_files(most):
    instance, taken = libc.inotify_init(), 0
    while taken < most:
        path = f"/tmp/{taken}"
        os.close(os.open(path, os.O_CREAT | os.O_WRONLY))
        if libc.inotify_add_watch(instance, path.encode(), 2) < 0:
            break
        taken += 1
    return taken

def run(data):
    taken = globals()[data["take"]](data["most"])
    print("taken")
    time.sleep(data["stay"])
    return taken
`;

/** Raises what it may, makes threads until it is refused, and ends them, so that it can be forked. */
const GREEDY_IMPORT = `
import resource, threading

soft, hard = resource.getrlimit(resource.RLIMIT_NPROC)
resource.setrlimit(resource.RLIMIT_NPROC, (hard, hard))
threading.stack_size(1 << 16)
end, made = threading.Event(), []
try:
    while len(made) < 5000:
        thread = threading.Thread(target=end.wait)
        thread.start()
        made.append(thread)
except RuntimeError:
    pass
end.set()
for thread in made:
    thread.join()
MADE = len(made)

def run():
    return [soft, hard, MADE]
`;
/** With room for one execution there are nine children at most: that, four that are prepared, and four that end. */
const CAPACITY = { cpu: 1, memory: 1 };
const LIMIT = 256;
const MOST = LIMIT * (1 + 9);

/** Of a version, where the capacity of the worker is not known. */
const CHILDREN = 32;

/** What a user of the host has of it; null: of signals that wait. */
function readMost(setting: string | null): number {
  if (setting !== null) return Number(readFileSync(`/proc/sys/fs/inotify/${setting}`, "latin1"));
  return Number(
    /^Max pending signals\s+\d+\s+(\d+)/mu.exec(readFileSync("/proc/self/limits", "latin1"))?.[1],
  );
}

describe.each(ATTACKED_LEVELS.filter((level) => level !== "C"))("shares at level %s", (level) => {
  let fixture: Fixture;
  let version: RunnableVersion;
  beforeAll(async () => {
    fixture = await createAttackedFixture(level);
    version = fixture.createVersion(PROGRAM);
  });
  afterAll(() => fixture.close());

  test.each([
    ["instances of inotify", "watch", "max_user_instances"],
    ["watches of inotify", "watch_files", "max_user_watches"],
    ["signals that wait", "queue_signals", null],
  ])(
    "a run that takes all %s that it is given leaves those of its siblings",
    async (_what, take, setting) => {
      const greedy = fixture.start(version, { data: { take, most: 1_000_000, stay: 2 } });
      await waitFor("it has taken them", () => greedy.lines.length > 0);
      const modest = await fixture.finish(version, { data: { take, most: 1, stay: 0 } });
      expect(modest.result).toEqual({ value: 1 });
      const outcome = await greedy.outcome;
      const taken = outcome.status === "SUCCEEDED" ? Buffer.from(outcome.result).toString() : "";
      expect(JSON.parse(taken)).toEqual({ value: Math.floor(readMost(setting) / CHILDREN) });
    },
  );

  test("code at import has as many processes as all executions of its version, also when it raises its limit", async () => {
    const small = await createAttackedFixture(level, { capacity: CAPACITY });
    try {
      const greedy = small.createVersion(GREEDY_IMPORT, { resources: CAPACITY });
      const { outcome, result } = await small.finish(greedy, { data: {} });
      expect(outcome).toMatchObject({ status: "SUCCEEDED" });
      const { value } = result as { readonly value: readonly [number, number, number] };
      expect(value.slice(0, 2)).toEqual([LIMIT, MOST]);
      expect(value[2]).toBeGreaterThan(LIMIT - 20);
      expect(value[2]).toBeLessThan(MOST);
    } finally {
      await small.close();
    }
  });
});
