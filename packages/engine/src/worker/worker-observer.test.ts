import { afterEach, beforeEach, expect, test } from "vitest";
import { createDispatchScene, OWNER, WITHIN } from "../testing/dispatch-scene.ts";
import type { DispatchScene } from "../testing/dispatch-scene.ts";
import type { EndedRun, WorkerObserver } from "./worker-observer.ts";

let scene: DispatchScene;

beforeEach(async () => {
  scene = await createDispatchScene();
});

afterEach(() => scene.close());

async function refuse(): Promise<never> {
  throw new Error("no room");
}

function watch() {
  const seen = {
    claimed: 0,
    waited: [] as number[],
    ended: [] as EndedRun[],
    gaveBack: [] as string[],
    renewed: 0,
  };
  const observer: WorkerObserver = {
    claimed: (executions) => void (seen.claimed += executions),
    began: (_versionId, waitedMs) => void seen.waited.push(waitedMs),
    ended: (run) => void seen.ended.push(run),
    gaveBack: (reason) => void seen.gaveBack.push(reason),
    renewed: (kept) => void (seen.renewed += kept),
  };
  return { seen, observer };
}

test("an observer sees claims, starts, ends with their codes, and renewals", async () => {
  const { seen, observer } = watch();
  const ids = [
    await scene.start("def run(): return {}\n"),
    await scene.start("def run(): raise ValueError('no')\n"),
    await scene.start("import nothing_of_this_name\n"),
  ];
  scene.createDispatcher({ observer, leaseSeconds: 6 }).start();
  await expect.poll(() => seen.ended.length, WITHIN).toBe(ids.length);
  const endOf = (code: string | null) => seen.ended.find((run) => run.code === code);
  const ran: unknown = expect.any(Number);
  expect(endOf(null)).toMatchObject({ status: "SUCCEEDED", ranMs: ran });
  expect(endOf("EXECUTION_ERROR")).toMatchObject({ status: "FAILED", ranMs: ran });
  // What could not be imported has not begun.
  expect(endOf("STARTUP_ERROR")).toMatchObject({ status: "FAILED", ranMs: null });
  expect(seen.claimed).toBe(ids.length);
  expect(seen.waited).toHaveLength(2);
  for (const waited of seen.waited) expect(waited).toBeGreaterThanOrEqual(0);
  const id = await scene.start("import time\ndef run(): time.sleep(100)\n");
  await expect.poll(() => seen.renewed, WITHIN).toBeGreaterThan(0);
  await scene.store.cancel(id, OWNER);
  await expect.poll(() => seen.ended.at(-1)?.code, WITHIN).toBe("CANCELLED");
});

test("an observer sees what goes back to the queue, and no end of it", async () => {
  const { seen, observer } = watch();
  await scene.start("def run(): return {}\n");
  scene.createDispatcher({ observer, versions: { prepare: refuse } }).start();
  await expect.poll(() => seen.gaveBack, WITHIN).toEqual(["fault"]);
  expect([seen.waited, seen.ended]).toEqual([[], []]);
});
