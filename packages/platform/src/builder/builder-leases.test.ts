import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { readMonotonic } from "@platform/engine/base/monotonic";
import { SECOND, HOUR } from "@platform/engine/base/time";
import { waitUntil } from "@platform/engine/testing/wait-until";
import { StoreFull, StoreUnavailable } from "../objects/object-store.ts";
import { openBuildScene, PROGRAM } from "../testing/build-scene.ts";
import type { BuildScene } from "../testing/build-scene.ts";
import type { BuildClaim } from "../store/builds/builds.ts";
import { createRecordingLogger } from "../testing/test-database.ts";
import { createBuilder } from "./builder.ts";
import type { BuilderDeps } from "./builder.ts";

let scene: BuildScene;
beforeAll(async () => {
  scene = await openBuildScene();
});
afterAll(() => scene?.close());

describe("a build", () => {
  test("is taken by another builder when the one that had it vanished, and given up after three", async () => {
    const { key, name } = await scene.createService();
    await scene.upload(key, await scene.pack(name));
    for (let attempt = 1; attempt <= 2; attempt++) {
      const claim = await scene.instance.stores.builds.claim(`vanished-${attempt}`, 0);
      expect(claim?.attempt).toBe(attempt);
    }
    expect(await scene.buildAll(key, "1.0.0")).toMatchObject({ status: "SUCCEEDED" });

    await scene.upload(key, await scene.pack(name, `${PROGRAM}# again\n`));
    for (let attempt = 1; attempt <= 3; attempt++) await scene.instance.stores.builds.claim("vanished", 0);
    expect(await scene.buildAll(key, "1.0.1")).toMatchObject({ status: "FAILED", code: "WORKER_LOST" });
  });

  test("waits for those before it of its major number, also where their builder vanished, and for no other", async () => {
    const { builds, services } = scene.instance.stores;
    const { organisationId, userId } = scene.owner;
    const create = async (serviceKey: string, version: string) => {
      const hash = `${serviceKey} ${version}`;
      const more = { archiveHash: hash, contentHash: hash, isForced: false, requestedBy: userId };
      await builds.create({ organisationId, serviceKey, version, ...more });
    };
    const claimAll = async (leaseSeconds: number) => {
      const claims = [];
      for (let claim = await builds.claim("a", leaseSeconds); claim; claim = await builds.claim("a", 60))
        claims.push(claim);
      return claims;
    };
    const endAll = async (claims: readonly BuildClaim[]) => {
      for (const claim of claims) await builds.finish(claim, { status: "FAILED", code: "X", detail: "no" });
    };
    const { key } = await services.create({ organisationId, name: "in-turn", description: "" });
    for (const version of ["1.0.1", "1.0.0", "2.0.0"]) await create(key, version);
    const first = await claimAll(60);
    expect(first.map(({ version }) => version)).toEqual(["1.0.1", "2.0.0"]);
    for (const claim of first) await builds.giveBack(claim);
    // Now that it waits again, it is still the first.
    const [again, ...others] = await claimAll(0);
    expect(again).toMatchObject({ version: "1.0.1", attempt: 2 });
    // Its lease was over at once, so it was claimed again.
    expect(others.map(({ version }) => version)).toEqual(expect.arrayContaining(["1.0.1", "2.0.0"]));
    await endAll(others);
    const rest = await claimAll(60);
    expect(rest.map(({ version }) => version)).toEqual(["1.0.0"]);
    // As a host requests it whose clock is behind: ids begin with their time.
    await create(key, "1.0.2");
    await scene.home.database.query({
      text: "update build set id = '00000000-0000-7000-8000-000000000000' where service_key = $1 and patch = 2",
      values: [key],
    });
    expect(await claimAll(60)).toEqual([]);
    await endAll(rest);
    const last = await claimAll(60);
    expect(last.map(({ version }) => version)).toEqual(["1.0.2"]);
    await endAll(last);
  });

  test("keeps its lease while it runs longer than that, and is not run twice", async () => {
    const { key, name } = await scene.createService();
    await scene.upload(key, await scene.pack(name, "import time\ntime.sleep(15)\ndef run(): pass\n"));
    const logger = createRecordingLogger();
    const builders = ["a", "b"].map((workerId) =>
      createBuilder({ ...scene.deps, logger, workerId }, { leaseSeconds: 10, pollMs: 100 }),
    );
    await waitUntil(async () => (await scene.readBuild(key, "1.0.0")).terminal);
    await Promise.all(builders.map((builder) => builder.drain()));
    const build = await scene.readBuild(key, "1.0.0");
    expect(build.status).toBe("SUCCEEDED");
    expect(build.log.filter((line) => line === "Building version 1.0.0")).toHaveLength(1);
  });

  test("is stopped before its lease ends when the lease cannot be renewed, and nothing is written of it", async () => {
    const { key, name } = await scene.createService();
    await scene.upload(key, await scene.pack(name));
    const leaseSeconds = 20;
    const times = { asked: 0, stopped: 0 };
    const builds: BuilderDeps["builds"] = {
      ...scene.instance.stores.builds,
      renew: () => Promise.reject(new Error("the store is away")),
      claim: async (...given) => {
        const asked = readMonotonic();
        const claim = await scene.instance.stores.builds.claim(...given);
        if (claim !== null) times.asked = asked;
        return claim;
      },
    };
    const hanging: BuilderDeps["environments"] = {
      ...scene.deps.environments,
      ensure: (_directory, { signal }) =>
        new Promise((_resolve, reject) => {
          signal?.addEventListener("abort", () => {
            times.stopped = readMonotonic();
            reject(signal.reason);
          });
        }),
    };
    const builder = createBuilder(
      { ...scene.deps, builds, environments: hanging },
      { leaseSeconds, pollMs: HOUR },
    );
    await waitUntil(() => times.stopped > 0);
    expect(times.stopped - times.asked).toBeLessThan(leaseSeconds * SECOND);
    await builder.drain();
    expect(await scene.readBuild(key, "1.0.0")).toMatchObject({ status: "RUNNING" });
    expect(await scene.buildAll(key, "1.0.0")).toMatchObject({ status: "SUCCEEDED" });
  });

  test.each([new StoreUnavailable("The store is away."), new StoreFull({ cause: new Error("ENOSPC") })])(
    "is made by another builder when its archive cannot be fetched at present: $name",
    async (fault) => {
      const { key, name } = await scene.createService();
      await scene.upload(key, await scene.pack(name));
      const logger = createRecordingLogger();
      const files = { ensure: () => Promise.reject(fault) };
      const builder = createBuilder({ ...scene.deps, files, logger }, { leaseSeconds: 1, pollMs: HOUR });
      await waitUntil(() => logger.entries.length > 0);
      await builder.drain();
      expect(await scene.buildAll(key, "1.0.0")).toMatchObject({ status: "SUCCEEDED" });
    },
  );

  test("that was written is not called lost while the answer to its write is on the way", async () => {
    const { key, name } = await scene.createService();
    await scene.upload(key, await scene.pack(name));
    const store = scene.instance.stores.builds;
    const renewals = { lost: 0 };
    const builds: BuilderDeps["builds"] = {
      ...store,
      renew: async (...given) => {
        const renewal = await store.renew(...given);
        renewals.lost += renewal.lost.length;
        return renewal;
      },
      finish: async (...given) => {
        const isKept = await store.finish(...given);
        await waitUntil(() => renewals.lost > 0);
        return isKept;
      },
    };
    const logger = createRecordingLogger();
    const builder = createBuilder({ ...scene.deps, builds, logger }, { leaseSeconds: 15, pollMs: HOUR });
    await waitUntil(() => renewals.lost > 0);
    await builder.drain();
    expect(await scene.readBuild(key, "1.0.0")).toMatchObject({ status: "SUCCEEDED" });
    expect(logger.entries.map(({ message }) => message)).toEqual(["a build ended"]);
  });

  test("is put back by a builder that closes, however often, and made by the next", async () => {
    const { key, name } = await scene.createService();
    await scene.upload(key, await scene.pack(name, "import time\ntime.sleep(8)\ndef run(): pass\n"));
    for (let stops = 0; stops < 3; stops++) {
      const closing = createBuilder(scene.deps, { leaseSeconds: 600 });
      await waitUntil(async () => (await scene.readBuild(key, "1.0.0")).status === "RUNNING");
      await closing.close();
      expect((await scene.readBuild(key, "1.0.0")).status).toBe("PENDING");
    }
    expect(await scene.buildAll(key, "1.0.0")).toMatchObject({ status: "SUCCEEDED" });
  });

  test("is given up at once by a builder that closes while the module is still being imported", async () => {
    const { key, name } = await scene.createService();
    await scene.upload(key, await scene.pack(name, "import time\ntime.sleep(45)\ndef run(): pass\n"));
    const closing = createBuilder(scene.deps, { leaseSeconds: 1 });
    const isLoading = async () =>
      (await scene.readBuild(key, "1.0.0")).log.includes("Loading src/program.py");
    await waitUntil(isLoading);
    const isClosed = closing.close().then(() => true);
    expect(await Promise.race([isClosed, delay(20 * SECOND, false, { ref: false })])).toBe(true);
    expect((await scene.readBuild(key, "1.0.0")).terminal).toBe(false);
    await scene.home.database.query({
      text: "update build set status = 'FAILED', failure_code = 'BUILD_CANCELLED', ended_at = now(), lease_until = null where service_key = $1",
      values: [key],
    });
  });
});
