import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { Problem } from "@platform/contract/problems";
import type { RetryPolicy } from "@platform/contract/retries";
import { createExecutions } from "../executions/executions.ts";
import { OWNER, WITHIN, createDispatchScene } from "../testing/dispatch-scene.ts";
import type { DispatchScene } from "../testing/dispatch-scene.ts";
import { createDeferred } from "../base/deferred.ts";
import type { ExecutionStore, StoreEvent } from "../store/execution-store.ts";
import type { WorkerObserver } from "./worker-observer.ts";
import { NO_WORKER_OBSERVER } from "./worker-observer.ts";

const RETRIES: RetryPolicy = { onLost: "retry", onError: { max: 2, backoffSeconds: 0 } };

/** Fails until this attempt, and prints its number. */
const failUntil = (attempt: number, failure = "raise RuntimeError('busy')") => `import os, time
def run():
    attempt = int(os.environ["SERVICE_EXECUTION_ATTEMPT"])
    print("in", attempt)
    if attempt < ${attempt}:
        ${failure}
    return {"attempt": attempt}
`;
const ENDLESS = "import time\ndef run():\n    print('in', flush=True)\n    time.sleep(600)\n";

let scene: DispatchScene;

beforeEach(async () => {
  scene = await createDispatchScene();
});

afterEach(() => scene.close());

async function readLines(id: string): Promise<readonly string[]> {
  const page = await scene.store.readLog(id, OWNER);
  const lines: readonly { readonly message: string }[] = JSON.parse(
    Buffer.from(page?.lines ?? []).toString(),
  );
  return lines.map(({ message }) => message);
}

async function readResult(id: string): Promise<unknown> {
  const stored = await scene.store.readResult(id, OWNER);
  return stored === null ? null : JSON.parse(Buffer.from(stored.result).toString());
}

describe("an execution whose service has chosen retries", () => {
  test("runs again after errors; its log says which attempt begins, and user code knows its number", async () => {
    const counted: string[] = [];
    const observer: WorkerObserver = {
      ...NO_WORKER_OBSERVER,
      gaveBack: (reason) => counted.push(reason),
      ended: ({ status }) => counted.push(status),
    };
    const id = await scene.start(failUntil(3), { retries: RETRIES });
    scene.createDispatcher({ observer }).start();
    await expect.poll(() => scene.statusOf(id), WITHIN).toBe("SUCCEEDED");
    expect(await readResult(id)).toEqual({ attempt: 3 });
    const { attempts } = await scene.find(id);
    expect(attempts).toMatchObject([
      { number: 1, code: "EXECUTION_ERROR", detail: "RuntimeError: busy" },
      { number: 2, code: "EXECUTION_ERROR" },
    ]);
    expect((await readLines(id)).filter((line) => /^(in|Attempt) /u.test(line))).toEqual([
      "in 1",
      "Attempt 2 of 3 begins; attempt 1 ended with EXECUTION_ERROR.",
      "in 2",
      "Attempt 3 of 3 begins; attempt 2 ended with EXECUTION_ERROR.",
      "in 3",
    ]);
    await expect.poll(() => counted).toEqual(["retry", "retry", "SUCCEEDED"]);
  });

  test("fails with the last error when none of its attempts succeeds", async () => {
    const id = await scene.start(failUntil(9), { retries: RETRIES });
    scene.createDispatcher().start();
    await expect.poll(() => scene.statusOf(id), WITHIN).toBe("FAILED");
    const { attempts, failure } = await scene.find(id);
    expect(attempts).toHaveLength(2);
    expect(failure).toMatchObject({ code: "EXECUTION_ERROR", detail: "RuntimeError: busy" });
  });

  test("answers who waits for its end with that, not with an attempt that failed", async () => {
    const executions = createExecutions({ store: scene.store, inputs: scene.sources.inputs });
    try {
      const id = await scene.start(failUntil(2), { retries: RETRIES });
      const states: string[] = [];
      const stop = scene.store.subscribe((event: StoreEvent) => {
        if (event.type === "changed" && event.record !== undefined) states.push(event.record.status);
      });
      const waited = executions.wait(id, OWNER, 60, new AbortController().signal);
      scene.createDispatcher().start();
      expect(await waited).toMatchObject({ status: "SUCCEEDED", attempts: [{ number: 1 }] });
      stop();
      expect(states).toEqual(["RUNNING", "PENDING", "RUNNING", "SUCCEEDED"]);
    } finally {
      executions.close();
    }
  });

  test("is not started again after its time limit, unless that code is named", async () => {
    const late = failUntil(2, "time.sleep(600)");
    const plain = await scene.start(late, { retries: RETRIES, timeoutSeconds: 1 });
    const named = await scene.start(late, {
      retries: { onError: { max: 1, backoffSeconds: 0, codes: ["TIMEOUT"] } },
      // Enough for its second attempt.
      timeoutSeconds: 4,
    });
    scene.createDispatcher().start();
    await expect.poll(() => scene.statusOf(plain), WITHIN).toBe("FAILED");
    expect(await scene.find(plain)).toMatchObject({ failure: { code: "TIMEOUT" } });
    expect(await scene.find(plain)).not.toHaveProperty("attempts");
    await expect.poll(() => scene.statusOf(named), WITHIN).toBe("SUCCEEDED");
    expect(await scene.find(named)).toMatchObject({ attempts: [{ code: "TIMEOUT" }] });
  });

  test("ends CANCELLED when it is cancelled while it runs, also where its code turns that into an error", async () => {
    const program = `import signal, time
def stop(*_):
    raise RuntimeError("stopped")
def run():
    signal.signal(signal.SIGTERM, stop)
    print("in", flush=True)
    time.sleep(600)
`;
    const id = await scene.start(program, { retries: RETRIES });
    scene.createDispatcher().start();
    await expect.poll(() => readLines(id), WITHIN).toContain("in");
    await scene.store.cancel(id, OWNER);
    await expect.poll(() => scene.statusOf(id), WITHIN).toBe("FAILED");
    expect((await scene.find(id)).failure?.code).toBe("CANCELLED");
    expect(await scene.find(id)).not.toHaveProperty("attempts");
  });

  test("waits for another worker when its own stops", async () => {
    const id = await scene.start(ENDLESS, { retries: RETRIES });
    const first = scene.createDispatcher();
    first.start();
    await expect.poll(() => readLines(id), WITHIN).toContain("in");
    await scene.stop(first, 0);
    expect(await scene.find(id)).toMatchObject({
      status: "PENDING",
      attempts: [{ number: 1, code: "WORKER_LOST" }],
    });
  });

  test("is retried once though the answer of that write was lost", async () => {
    let writes = 0;
    const store: ExecutionStore = {
      ...scene.store,
      retry: async (...given) => {
        const isWritten = await scene.store.retry(...given);
        writes += 1;
        if (writes === 1) throw new Problem("UNAVAILABLE", "The connection broke.");
        return isWritten;
      },
    };
    const id = await scene.start(failUntil(2), { retries: RETRIES });
    scene.createDispatcher({ store }).start();
    await expect.poll(() => scene.statusOf(id), WITHIN).toBe("SUCCEEDED");
    await expect.poll(() => writes).toBe(2);
    expect((await scene.find(id)).attempts).toHaveLength(1);
    expect(await readResult(id)).toEqual({ attempt: 2 });
  });

  test("is not retried by a worker that lost its lease while it wrote that", async () => {
    const asked = createDeferred<undefined>();
    const go = createDeferred<undefined>();
    const answers: boolean[] = [];
    const store: ExecutionStore = {
      ...scene.store,
      // Its lease ends at once, and it is not told so, as if it were cut off.
      claim: (request) => scene.store.claim({ ...request, leaseSeconds: 0.01 }),
      renew: async () => ({ lost: [], cancelled: [], busy: [] }),
      retry: async (...given) => {
        asked.resolve(undefined);
        await go.promise;
        answers.push(await scene.store.retry(...given));
        return answers.at(-1) === true;
      },
    };
    const once: RetryPolicy = { onLost: "retry", onError: { max: 1, backoffSeconds: 0 } };
    const id = await scene.start(failUntil(2), { retries: once });
    scene.createDispatcher({ store }).start();
    await asked.promise;
    await expect.poll(() => scene.store.sweep(), WITHIN).toBe(1);
    expect(await scene.find(id)).toMatchObject({ attempts: [{ code: "WORKER_LOST" }] });
    go.resolve(undefined);
    await expect.poll(() => answers, WITHIN).toEqual([false]);
    expect((await scene.find(id)).attempts).toHaveLength(1);
  });
});

test("an execution whose service has chosen nothing fails at its first error, and says nothing of attempts", async () => {
  const id = await scene.start(failUntil(2));
  scene.createDispatcher().start();
  await expect.poll(() => scene.statusOf(id), WITHIN).toBe("FAILED");
  expect(await scene.find(id)).not.toHaveProperty("attempts");
  expect((await readLines(id)).filter((line) => /^(in|Attempt) /u.test(line))).toEqual(["in 1"]);
});
