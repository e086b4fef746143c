import { EventEmitter, once } from "node:events";
import { Problem } from "@platform/contract/problems";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createUuidV7 } from "../base/uuid.ts";
import type { DispatcherOptions } from "./dispatcher.ts";
import type { ExecutionStore } from "../store/execution-store.ts";
import { ProjectError } from "../project/project-error.ts";
import { createFixture } from "../testing/python-fixture.ts";
import { createDispatchScene, OWNER, WITHIN } from "../testing/dispatch-scene.ts";
import type { DispatchScene } from "../testing/dispatch-scene.ts";

const REFERENCE = {
  dataPoolId: createUuidV7(),
  dataSourceDescriptorId: createUuidV7(),
  fileId: createUuidV7(),
};
const PIN = { ...REFERENCE, sha256: "0".repeat(64), bytes: 2 };
const PROGRAM = "def run(): return {'ran': True}\n";
const REQUEST = {
  workerId: "w",
  sandboxLevel: "B" as const,
  limit: 1,
  free: { cpu: 1, memory: 1 },
  leaseSeconds: 30,
  excludedVersionIds: [],
};
const SLEEPER = "import time\ndef run():\n    time.sleep(60)\n";

let scene: DispatchScene;

beforeEach(async () => {
  scene = await createDispatchScene();
});

afterEach(() => scene.close());

const failAway = () => Promise.reject(new Problem("UNAVAILABLE"));

/** A source that never answers and says when it is asked, and when it may stop. */
function createHanging(): { readonly versions: DispatcherOptions["versions"]; readonly seen: string[] } {
  const seen: string[] = [];
  const prepare = (versionId: string, signal: AbortSignal) => {
    seen.push(`asked ${versionId}`);
    signal.addEventListener("abort", () => seen.push(`stopped ${versionId}`));
    return new Promise<never>(() => undefined);
  };
  return { versions: { prepare }, seen };
}

describe("what the platform cannot start", () => {
  const full = Object.assign(new Error("ENOSPC: no space left on device"), { code: "ENOSPC" });
  const SICK: Record<string, () => Partial<DispatcherOptions>> = {
    "cannot unpack anything": () => ({ versions: { prepare: () => Promise.reject(full) } }),
    "has no room for inputs": () => ({
      inputs: { ...scene.sources.inputs, place: () => Promise.reject(full) },
    }),
  };

  test.each(Object.keys(SICK))(
    "runs on the sound worker when the one beside it %s; nothing fails",
    async (what) => {
      scene.files.set(REFERENCE.fileId, "{}");
      const ids: string[] = [];
      for (let count = 0; count < 8; count++)
        ids.push(
          await scene.start("def run(data): return {'ran': True}\n", {
            resources: { cpu: 0.25, memory: 0.25 },
            json: { dataRef: REFERENCE },
            references: { data: PIN },
          }),
        );
      const seen = new Set<string>();
      scene.store.subscribe((event) => event.type === "changed" && seen.add(event.record?.status ?? ""));
      const sick = scene.createDispatcher(SICK[what]?.());
      sick.start();
      await expect.poll(() => sick.explainRest(), WITHIN).not.toBeNull();
      scene.createDispatcher().start();
      await expect
        .poll(async () => new Set(await Promise.all(ids.map(scene.statusOf))), WITHIN)
        .toEqual(new Set(["SUCCEEDED"]));
      expect(seen).toEqual(new Set(["RUNNING", "PENDING", "SUCCEEDED"]));
      const told = scene.logged.filter(({ message }) => message.includes("several versions"));
      expect(told).toHaveLength(1);
    },
  );

  test("for want of a store of inputs keeps no worker from what has none by reference, and runs when the store is back", async () => {
    scene.files.set(REFERENCE.fileId, "{}");
    const failed = new Set<string>();
    const { place } = scene.sources.inputs;
    let storeState: "away" | "back" = "away";
    const dispatcher = scene.createDispatcher({
      inputs: {
        ...scene.sources.inputs,
        place: (...given) =>
          storeState === "back" ? place(...given) : Promise.reject(new Problem("UNAVAILABLE")),
      },
    });
    scene.store.subscribe((event) => {
      if (event.type === "changed" && event.record?.status === "PENDING") failed.add(event.id);
    });
    const waiting: string[] = [];
    for (let count = 0; count < 4; count++)
      waiting.push(
        await scene.start("def run(data): return {'ran': True}\n", {
          resources: { cpu: 0.25, memory: 0.25 },
          json: { dataRef: REFERENCE },
          references: { data: PIN },
        }),
      );
    dispatcher.start();
    await expect.poll(() => waiting.every((id) => failed.has(id)), WITHIN).toBe(true);
    expect(dispatcher.explainRest()).toBeNull();
    const other = await scene.start(PROGRAM);
    await expect.poll(() => scene.statusOf(other), WITHIN).toBe("SUCCEEDED");
    storeState = "back";
    await expect
      .poll(async () => new Set(await Promise.all(waiting.map(scene.statusOf))), WITHIN)
      .toEqual(new Set(["SUCCEEDED"]));
  });

  test("runs elsewhere when a worker cannot start its processes", async () => {
    const broken = await createFixture({
      sandbox: {
        report: { level: "D", missing: [] },
        cgroups: null,
        mayLink: false,
        explainNetwork: () => null,
        findFault: async () => null,
        prepare: () => {
          throw new Error("no uid is free");
        },
      },
    });
    const id = await scene.start(PROGRAM);
    const changes: string[] = [];
    scene.store.subscribe((event) => event.type === "changed" && changes.push(event.record?.status ?? ""));
    const sick = scene.createDispatcher({ runtime: broken.runtime });
    sick.start();
    await expect.poll(() => changes.slice(0, 2), WITHIN).toEqual(["RUNNING", "PENDING"]);
    await sick.drain(0);
    scene.createDispatcher().start();
    await expect.poll(() => scene.statusOf(id), WITHIN).toBe("SUCCEEDED");
    await broken.close();
  });

  test("ends NOT_STARTED after a bounded number of tries", async () => {
    const id = await scene.start(PROGRAM);
    for (let tries = 0; tries < 7; tries++) {
      const [claim] = (await scene.store.claim(REQUEST)).claims;
      if (claim !== undefined) await scene.store.giveBack(claim, 0);
    }
    scene.createDispatcher({ versions: { prepare: () => Promise.reject(full) } }).start();
    await expect.poll(async () => (await scene.find(id)).failure?.code, WITHIN).toBe("NOT_STARTED");
    expect(await scene.statusOf(id)).toBe("FAILED");
    expect((await scene.find(id)).failure?.detail).not.toContain("ENOSPC");
  });

  test("goes back for its pause or up to a quarter less, so never for more than five minutes", async () => {
    const id = await scene.start(PROGRAM, { resources: { cpu: 0.05, memory: 0.1 } });
    const { versionId } = await scene.find(id);
    for (let count = 1; count < 30; count++)
      await scene.start(PROGRAM, { versionId, resources: { cpu: 0.05, memory: 0.1 } });
    for (let tries = 0; tries < 6; tries++) {
      const { claims } = await scene.store.claim({ ...REQUEST, limit: 30, free: { cpu: 2, memory: 4 } });
      for (const claim of claims) await scene.store.giveBack(claim, 0);
    }
    const pauses: number[] = [];
    const giveBack: ExecutionStore["giveBack"] = async (claim, seconds) => {
      pauses.push(seconds ?? 0);
      return scene.store.giveBack(claim, seconds);
    };
    const store = { ...scene.store, giveBack };
    scene.createDispatcher({ store, versions: { prepare: () => Promise.reject(full) } }).start();
    await expect.poll(() => pauses.length, WITHIN).toBe(30);
    expect(Math.max(...pauses)).toBeLessThanOrEqual(300);
    expect(Math.min(...pauses)).toBeGreaterThanOrEqual(225);
    expect(new Set(pauses).size).toBeGreaterThan(1);
  });

  test("is said in the log once for each version, however many executions it hits", async () => {
    const id = await scene.start(PROGRAM);
    const { versionId } = await scene.find(id);
    for (let count = 0; count < 5; count++)
      await scene.start(PROGRAM, { versionId, resources: { cpu: 0.1, memory: 0.1 } });
    const gaveBack: string[] = [];
    scene.store.subscribe((event) => {
      if (event.type === "changed" && event.record?.status === "PENDING") gaveBack.push(event.id);
    });
    scene.createDispatcher({ versions: { prepare: () => Promise.reject(full) } }).start();
    await expect.poll(() => gaveBack.length, WITHIN).toBe(6);
    expect(scene.logged.filter(({ level }) => level === "error")).toHaveLength(1);
  });
});

test("an execution fails when its referenced input is gone, and when its project is at fault", async () => {
  const gone = await scene.start("def run(): ...\n", {
    json: { dataRef: REFERENCE },
    references: { data: PIN },
  });
  const broken = await scene.start("def run(): ...\n", { versionId: "broken" });
  const prepare: DispatcherOptions["versions"]["prepare"] = async (id, signal) => {
    if (id === "broken") throw new ProjectError("BUILD_FAILED", "There is no package of this name.");
    return scene.sources.versions.prepare(id, signal);
  };
  const dispatcher = scene.createDispatcher({ versions: { prepare } });
  dispatcher.start();
  await expect
    .poll(async () => (await scene.find(gone)).failure?.code, WITHIN)
    .toBe("DATA_REFERENCE_UNAVAILABLE");
  await expect
    .poll(async () => (await scene.find(broken)).failure, WITHIN)
    .toEqual({ code: "STARTUP_ERROR", detail: "There is no package of this name." });
});

test("the input of an execution that could not be handed over is discarded", async () => {
  scene.files.set(REFERENCE.fileId, "{}");
  await scene.start(PROGRAM, { json: { dataRef: REFERENCE }, references: { data: PIN } });
  const discarded: string[] = [];
  const { stageInputs } = scene.fixture.runtime;
  scene
    .createDispatcher({
      runtime: {
        stageInputs: async (fill) => {
          const staged = await stageInputs(fill);
          return { ...staged, discard: () => void discarded.push(JSON.stringify(staged.bytes)) };
        },
        run: () => {
          throw new Error("a bug");
        },
      },
    })
    .start();
  await expect.poll(() => discarded, WITHIN).toEqual(['{"data":2}']);
});

describe("while a version is made ready", () => {
  test("cancel ends the execution at once, and stops the preparation", async () => {
    const { versions, seen } = createHanging();
    const id = await scene.start(PROGRAM);
    scene.createDispatcher({ versions }).start();
    await expect.poll(() => seen, WITHIN).toHaveLength(1);
    await scene.store.cancel(id, OWNER);
    await expect.poll(async () => (await scene.find(id)).failure?.code, WITHIN).toBe("CANCELLED");
    expect(seen.map((text) => text.split(" ")[0])).toEqual(["asked", "stopped"]);
  });

  test("a worker that stops does not wait for it: the execution goes back and runs elsewhere", async () => {
    const { versions, seen } = createHanging();
    const id = await scene.start(PROGRAM);
    const stopping = scene.createDispatcher({ versions });
    stopping.start();
    await expect.poll(() => seen, WITHIN).toHaveLength(1);
    await scene.stop(stopping, 0);
    expect(await scene.statusOf(id)).toBe("PENDING");
    const other = await createFixture();
    const elsewhere = scene.createDispatcher({ runtime: other.runtime });
    elsewhere.start();
    await expect.poll(() => scene.statusOf(id), WITHIN).toBe("SUCCEEDED");
    await elsewhere.drain(5);
    await other.close();
    await elsewhere.close();
  });

  test("a lease that is lost stops the preparation, and the worker writes nothing", async () => {
    const { versions, seen } = createHanging();
    const id = await scene.start(PROGRAM);
    scene.createDispatcher({ versions, leaseSeconds: 1, store: { ...scene.store, renew: failAway } }).start();
    await expect.poll(() => seen.map((text) => text.split(" ")[0]), WITHIN).toEqual(["asked", "stopped"]);
    await expect.poll(() => scene.store.sweep(), WITHIN).toBe(1);
    expect(await scene.statusOf(id)).toBe("UNKNOWN");
  });

  test("what waits for a process when the worker stops goes back, too", async () => {
    const id = await scene.start("import time\ntime.sleep(60)\ndef run(): ...\n");
    const dispatcher = scene.createDispatcher();
    dispatcher.start();
    await expect.poll(() => scene.statusOf(id), WITHIN).toBe("RUNNING");
    await scene.stop(dispatcher, 0);
    expect(await scene.statusOf(id)).toBe("PENDING");
    const { claims } = await scene.store.claim({ ...REQUEST, workerId: "next" });
    expect(claims).toMatchObject([{ id, attempt: 2, setbacks: 0 }]);
  });
});

describe("a known outcome", () => {
  test("is written as soon as the store is back, however often that was tried, while its lease is kept", async () => {
    const refusals = { left: 6 };
    const finish: ExecutionStore["finish"] = async (claim, outcome) => {
      if (refusals.left-- > 0) throw new Problem("UNAVAILABLE");
      return scene.store.finish(claim, outcome);
    };
    const id = await scene.start(PROGRAM);
    scene.createDispatcher({ store: { ...scene.store, finish } }).start();
    await expect.poll(() => scene.statusOf(id), WITHIN).toBe("SUCCEEDED");
    expect(refusals.left).toBeLessThan(0);
  });

  test("is dropped when the lease was lost meanwhile, and the log says so", async () => {
    const id = await scene.start(PROGRAM);
    let isOver = false;
    const finish: ExecutionStore["finish"] = () => {
      isOver = true;
      return failAway();
    };
    // A lease that is lost before there is an outcome would end the run, which may take longer than a lease.
    const renew: ExecutionStore["renew"] = (...given) => (isOver ? failAway() : scene.store.renew(...given));
    scene.createDispatcher({ leaseSeconds: 9, store: { ...scene.store, finish, renew } }).start();
    await expect
      .poll(() => scene.logged.some(({ message }) => message.includes("the outcome is dropped")), WITHIN)
      .toBe(true);
    await expect.poll(() => scene.store.sweep(), WITHIN).toBe(1);
    expect((await scene.find(id)).failure?.code).toBe("WORKER_LOST");
  });

  test("that was written is not called lost, neither while its answer is on the way nor while its processes end", async () => {
    const renewals = new EventEmitter();
    const renew: ExecutionStore["renew"] = async (...given) => {
      const answer = await scene.store.renew(...given);
      setImmediate(() => renewals.emit("renewed", answer));
      return answer;
    };
    const finish: ExecutionStore["finish"] = async (...given) => {
      const isWritten = await scene.store.finish(...given);
      await once(renewals, "renewed");
      await once(renewals, "renewed");
      return isWritten;
    };
    const { runtime } = scene.fixture;
    const lingering: DispatcherOptions["runtime"] = {
      ...runtime,
      run: (request) => {
        const run = runtime.run(request);
        const isSleeper = request.timeoutSeconds === 300;
        const linger = async () => {
          await run.ended;
          if (isSleeper) return;
          for (let count = 0; count < 4; count++) await once(renewals, "renewed");
        };
        return { ...run, ended: linger() };
      },
    };
    // Keeps the renewals going.
    await scene.start(SLEEPER, { timeoutSeconds: 300 });
    const id = await scene.start(PROGRAM);
    const dispatcher = scene.createDispatcher({
      leaseSeconds: 9,
      store: { ...scene.store, renew, finish },
      runtime: lingering,
    });
    dispatcher.start();
    await expect.poll(() => scene.statusOf(id), WITHIN).toBe("SUCCEEDED");
    for (let count = 0; count < 6; count++) await once(renewals, "renewed");
    expect(scene.logged.filter(({ level }) => level !== "info")).toEqual([]);
    await scene.stop(dispatcher, 0);
  });
});
