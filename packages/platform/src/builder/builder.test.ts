import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { AuditEvent } from "@platform/contract/platform-api/audit";
import type { Version } from "@platform/contract/platform-api/services";
import { createUuidV7 } from "@platform/engine/base/uuid";
import { createPostgresExecutionStore } from "../store/executions/execution-store.ts";
import type { SubscriptionTerms } from "../store/subscribe.ts";
import { openBuildScene, PROGRAM, returning, typed, modelled } from "../testing/build-scene.ts";
import type { BuildScene } from "../testing/build-scene.ts";
import { createVersionSource } from "../versions/version-source.ts";

let scene: BuildScene;
beforeAll(async () => {
  scene = await openBuildScene();
});
afterAll(() => scene?.close());

/** Subscribes new applications of these names, each on its terms; their ids by name. */
async function subscribeAll(key: string, terms: Readonly<Record<string, SubscriptionTerms>>) {
  const { instance, owner } = scene;
  await instance.stores.services.publish(owner.organisationId, key, "internal");
  const ids: Record<string, string> = {};
  for (const [name, wanted] of Object.entries(terms)) {
    const { organisationId, userId: createdBy } = owner;
    const { id } = await instance.stores.applications.create({ organisationId, name, createdBy });
    ids[name] = (await instance.stores.subscriptions.create(organisationId, id, key, wanted)).id;
  }
  return ids;
}

describe("a build", () => {
  test("makes a version of an upload that a worker can run, with the schema of its hints", async () => {
    const { key, name } = await scene.createService();
    const response = await scene.upload(
      key,
      await scene.pack(name, PROGRAM, {
        timeoutSeconds: 9,
        resources: { cpu: 0.5 },
        variables: ["API_TOKEN"],
      }),
    );
    expect(response.headers.location).toBe(`/api/services/${key}/versions/1.0.0/build`);
    expect(response.json()).toMatchObject({ version: "1.0.0", status: "PENDING", terminal: false });
    const build = await scene.buildAll(key, "1.0.0");
    expect(build).toMatchObject({ status: "SUCCEEDED", terminal: true });
    expect(build.log).toContain("Building version 1.0.0");
    expect(build.log).toContainEqual(
      expect.stringMatching(/^platform.json declares API_TOKEN, which is not set: platform secrets set /u),
    );
    const { items } = await scene.read<{ items: Version[] }>(`/services/${key}/versions`);
    expect(items).toMatchObject([
      { version: "1.0.0", status: "LIVE", timeoutSeconds: 9, resources: { cpu: 0.5, memory: 1 } },
    ]);
    const version = await scene.instance.stores.versions.findLatest(scene.owner.organisationId, key);
    const source = createVersionSource(scene.deps);
    const runnable = await source.prepare(version?.id ?? "", new AbortController().signal);
    const { result, lines } = await scene.python.finish(runnable, { data: { values: [1, 2] } });
    expect(result).toEqual({ sum: 3 });
    expect(lines.map((line) => line.message)).toContain("ran");
  });

  test("fails with what to do when a secret of the service does not open", async () => {
    const { key, name } = await scene.createService();
    const { organisationId, userId: by } = scene.owner;
    const sealed = { kind: "secret", sealed: "", keyId: "another", by, limit: 50 } as const;
    await scene.instance.stores.variables.put({ organisationId, serviceKey: key }, "API_TOKEN", sealed);
    expect(await scene.deploy(key, await scene.pack(name))).toMatchObject({
      code: "INVALID_PROJECT",
      detail: "The secret API_TOKEN was stored by a platform with another --secret; set it again.",
    });
  });

  test("counts versions on, by the wished step or to the wished number, and never overwrites one", async () => {
    const { key, name } = await scene.createService();
    for (const [query, expected] of [
      ["?bump=major", "1.0.0"],
      ["", "1.0.1"],
      ["?bump=minor", "1.1.0"],
      ["?bump=major", "2.0.0"],
      ["?version=2.5.0", "2.5.0"],
      ["", "2.5.1"],
    ] as const) {
      const { version, status } = await scene.deploy(
        key,
        await scene.pack(name, returning(Math.random()), {}),
        query,
      );
      expect([version, status]).toEqual([expected, "SUCCEEDED"]);
    }
    const taken = await scene.upload(key, await scene.pack(name, returning(7)), "?version=2.5.0");
    expect(taken.statusCode).toBe(409);
    expect(taken.json()).toMatchObject({ code: "CONFLICT" });
  });

  test("is refused where no number comes after the highest, and another step goes on", async () => {
    const { key, name } = await scene.createService();
    await scene.deploy(key, await scene.pack(name), "?version=1.0.999999999");
    const refused = await scene.upload(key, await scene.pack(name, returning(2)));
    expect([refused.statusCode, refused.json()]).toMatchObject([409, { code: "CONFLICT" }]);
    expect(
      (await scene.upload(key, await scene.pack(name, returning(3)), "?bump=minor")).json(),
    ).toMatchObject({
      version: "1.1.0",
    });
  });

  test("is not repeated for unchanged content, whether it runs or is done; going back to older content is a change", async () => {
    const { key, name } = await scene.createService();
    const first = await scene.pack(name);
    expect((await scene.upload(key, first)).statusCode).toBe(201);
    const again = await scene.upload(key, first);
    expect([again.statusCode, again.json().version]).toEqual([200, "1.0.0"]);
    await scene.buildAll(key, "1.0.0");
    expect((await scene.upload(key, first)).statusCode).toBe(200);
    await scene.deploy(key, await scene.pack(name, `${PROGRAM}# changed\n`));
    expect((await scene.upload(key, first)).json()).toMatchObject({ version: "1.0.2", status: "PENDING" });
    await scene.buildAll(key, "1.0.2");
    const { items } = await scene.read<{ items: AuditEvent[] }>("/audit-events?action=version.create");
    const made = items.filter(({ target }) => target.path?.startsWith(key));
    const versions = made.map(({ target }) => target.path?.split("/")[1]);
    expect(versions).toEqual(["1.0.2", "1.0.1", "1.0.0"]);
  });

  test("gives two uploads at the same moment two numbers", async () => {
    const { key, name } = await scene.createService();
    const archives = await Promise.all([1, 2, 3].map((n) => scene.pack(name, returning(n))));
    const responses = await Promise.all(archives.map((archive) => scene.upload(key, archive)));
    expect(new Set(responses.map((response) => response.json().version))).toEqual(
      new Set(["1.0.0", "1.0.1", "1.0.2"]),
    );
    await scene.buildAll(key, "1.0.2");
  });

  test.each([
    ["a syntax error", "def run(:\n", "SyntaxError"],
    ["an import that fails", "import nothing_like_this\ndef run(): pass\n", "nothing_like_this"],
    ["no run", "def walk(): pass\n", "run"],
    ["a module that ends the process", "import os\nos._exit(3)\n", "import"],
  ])("fails with code, detail and log for %s, and the builder lives on", async (_what, program, named) => {
    const { key, name } = await scene.createService();
    const build = await scene.deploy(key, await scene.pack(name, program));
    expect(build.status).toBe("FAILED");
    expect(build.code).toMatch(/^[A-Z_]+$/);
    expect(build.detail).toContain(named);
    expect(build.log.at(-1)).toBe(`${build.code}: ${build.detail}`);
    expect((await scene.read<{ items: Version[] }>(`/services/${key}/versions`)).items).toEqual([]);
    const repaired = await scene.deploy(key, await scene.pack(name));
    expect([repaired.version, repaired.status]).toEqual(["1.0.0", "SUCCEEDED"]);
  });

  test("says in the log why each execution will start a fresh interpreter, and how to avoid it", async () => {
    const { key, name } = await scene.createService();
    const build = await scene.deploy(key, await scene.pack(name, `import os\nPIPE = os.pipe()\n${PROGRAM}`));
    expect(build.status).toBe("SUCCEEDED");
    expect(build.log).toContain(
      "Each execution starts a fresh interpreter, which is slower: A pipe is still open after the import; open it inside run() to get fast starts.",
    );
    const version = await scene.instance.stores.versions.findLatest(scene.owner.organisationId, key);
    expect(version?.startMode).toBe("spawn");
  });

  test("fails when the project lists addresses outside of the internet, and says in its log where versions have no network", async () => {
    const { key, name } = await scene.createService();
    const build = async (network: unknown) => scene.deploy(key, await scene.pack(name, PROGRAM, { network }));
    const refused = await build({ hosts: ["10.1.2.3"] });
    expect(refused).toMatchObject({
      status: "FAILED",
      code: "INVALID_PROJECT",
      detail: expect.stringContaining("network.hosts names addresses outside of the internet"),
    });
    const usual = scene.deps.network;
    const missing = { piece: "network", why: "There is no tun device.", remedy: "Create it." } as const;
    Object.assign(scene.deps, { network: { ...usual, missing } });
    try {
      const { status, log } = await build("egress");
      expect(status).toBe("SUCCEEDED");
      expect(log).toContain("The version has no network here. There is no tun device. Create it.");
      expect((await build("none")).log).not.toContain("no network");
    } finally {
      Object.assign(scene.deps, { network: usual });
    }
  });

  test("fails when no worker that lives has what the project asks for, and names the largest", async () => {
    const { key, name } = await scene.createService();
    const small = [
      { cpu: 2, memory: 4 },
      { cpu: 1, memory: 2 },
      { cpu: 1, memory: 64 },
    ];
    await scene.setWorkers(...small);
    const build = await scene.deploy(
      key,
      await scene.pack(name, PROGRAM, { resources: { cpu: 2, memory: 8 } }),
    );
    expect(build).toMatchObject({ status: "FAILED", code: "INVALID_PROJECT" });
    expect(build.detail).toContain("2 vCPU and 8 GB");
    expect(build.detail).toContain("2 vCPU and 4 GB, or 1 vCPU and 64 GB");
    await scene.setWorkers(...small, { cpu: 64, memory: 64 });
    expect(
      await scene.deploy(key, await scene.pack(name, `${PROGRAM}# more\n`, { resources: { cpu: 64 } })),
    ).toMatchObject({
      status: "SUCCEEDED",
    });
  });

  test("fails for a backend that is larger than what workers have for backends, however much they have for services", async () => {
    const { key, name } = await scene.createService();
    await scene.setWorkers({ cpu: 64, memory: 64 }, { kind: "backend", cpu: 1, memory: 1 });
    const more = { backend: { id: "sim.large" }, resources: { cpu: 2, memory: 1 } };
    const build = await scene.deploy(key, await scene.pack(name, PROGRAM, more));
    expect(build).toMatchObject({ status: "FAILED", code: "BACKEND_TOO_LARGE" });
    expect(build.detail).toContain(
      "ask for 2 vCPU and 1 GB, but the largest worker has 1 vCPU and 1 GB for backends",
    );
  });

  test("goes live while no worker runs, and the log says what its executions wait for", async () => {
    const { key, name } = await scene.createService();
    await scene.setWorkers();
    const build = await scene.deploy(
      key,
      await scene.pack(name, PROGRAM, { resources: { cpu: 64, memory: 8 } }),
    );
    expect(build.status).toBe("SUCCEEDED");
    expect(build.log.join("\n")).toContain(
      "No worker is running at present; executions wait for one with 64 vCPU and 8 GB.",
    );
  });

  test("fails when the input would break callers within the major, unless forced or made a new major", async () => {
    const { key, name } = await scene.createService();
    await scene.deploy(key, await scene.pack(name, typed("int")));
    const refused = await scene.deploy(key, await scene.pack(name, typed("str")));
    expect(refused).toMatchObject({ status: "FAILED", version: "1.0.1" });
    expect(refused.detail).toContain("/data/n was integer and is now string");
    expect(await scene.deploy(key, await scene.pack(name, typed("str")), "?bump=major")).toMatchObject({
      status: "SUCCEEDED",
      version: "2.0.0",
    });
    const forced = await scene.deploy(key, await scene.pack(name, typed("bool")), "?force=true");
    expect(forced).toMatchObject({ status: "SUCCEEDED", version: "2.0.1" });
  });

  test("fails when a higher version of the major that is live would break its callers, unless forced", async () => {
    const { key, name } = await scene.createService();
    await scene.deploy(key, await scene.pack(name, typed("int")), "?version=1.0.5");
    const archive = await scene.pack(name, typed("float"));
    const refused = await scene.deploy(key, archive, "?version=1.0.2");
    expect(refused).toMatchObject({ status: "FAILED", code: "INVALID_PROJECT" });
    expect(refused.detail).toContain(
      "Version 1.0.5, which is live, would break callers of 1.0.2: /data/n was number and is now integer.",
    );
    const forced = await scene.deploy(key, archive, "?version=1.0.2&force=true");
    expect(forced).toMatchObject({ status: "SUCCEEDED", version: "1.0.2" });
  });

  test("is compared with the version before it, also where that one is built at the same time and takes longer", async () => {
    const { key, name } = await scene.createService();
    await scene.deploy(key, await scene.pack(name, typed("int")));
    await scene.upload(key, await scene.pack(name, `import time\ntime.sleep(3)\n${typed("float")}`));
    await scene.upload(key, await scene.pack(name, `${typed("int")}# other content`));
    expect(await scene.buildAll(key, "1.0.2")).toMatchObject({ status: "FAILED", code: "INVALID_PROJECT" });
    const { detail } = await scene.readBuild(key, "1.0.2");
    expect(detail).toContain("breaks callers of 1.0.1: /data/n was number and is now integer");
    expect(await scene.readBuild(key, "1.0.1")).toMatchObject({ status: "SUCCEEDED" });
  });

  describe("that subscriptions call", () => {
    test("does not go live where it would break one that it moves, and names nobody; what is pinned or follows another major does not count", async () => {
      const { key, name } = await scene.createService();
      await scene.deploy(key, await scene.pack(name, typed("int")));
      await subscribeAll(key, { shop: {}, lab: { version: "1" }, pinned: { version: "1.0.0" } });
      const refused = await scene.deploy(key, await scene.pack(name, typed("str")));
      expect(refused).toMatchObject({ status: "FAILED", code: "INVALID_PROJECT" });
      expect(refused.detail).toContain(
        "It would break 2 subscriptions that call 1.0.0 (/data/n was integer and is now string).",
      );
      const major = await scene.deploy(key, await scene.pack(name, typed("str")), "?bump=major");
      expect(major).toMatchObject({ status: "SUCCEEDED", version: "2.0.0" });
      expect(major.log.join("\n")).toContain(
        "Version 2.0.0 breaks 1 subscription that calls 1.0.0 (/data/n was integer and is now string).",
      );
      expect(`${refused.detail} ${major.log.join(" ")}`).not.toMatch(/shop|lab|Somebody/u);
      // A version of the first major number moves "lab" alone, and takes what it sends.
      const older = await scene.deploy(key, await scene.pack(name, typed("float")), "?version=1.1.0");
      expect(older).toMatchObject({ status: "SUCCEEDED", version: "1.1.0" });
      expect(older.log.join("\n")).not.toContain("breaks");
    });

    test("is compared with what they started last, not with what their URL names", async () => {
      const { key, name } = await scene.createService();
      await scene.deploy(key, await scene.pack(name, typed("int")));
      const [old] = (await scene.instance.stores.versions.list(scene.owner.organisationId, key, { limit: 1 }))
        .items;
      const { shop } = await subscribeAll(key, { shop: {} });
      const forced = await scene.deploy(key, await scene.pack(name, typed("str")), "?force=true");
      expect(forced).toMatchObject({ status: "SUCCEEDED", version: "1.0.1" });
      expect(forced.log.join("\n")).toContain("Version 1.0.1 breaks 1 subscription that calls 1.0.0");
      const store = createPostgresExecutionStore({ database: scene.home.database });
      await store.create({
        id: createUuidV7(),
        owner: { kind: "subscription", id: shop ?? "", organisationId: scene.owner.organisationId },
        versionId: old?.id ?? "",
        resources: { cpu: 1, memory: 1 },
        timeoutSeconds: 60,
        body: Buffer.from("{}"),
        references: {},
      });
      await store.close();
      const refused = await scene.deploy(key, await scene.pack(name, `${typed("str")}# other content`));
      expect(refused).toMatchObject({ status: "FAILED" });
      expect(refused.detail).toMatch(/^It would break 1 subscription that calls 1\.0\.0 /u);
    });
  });

  test.each([
    ["minimum", '{"properties": {"n": {"minimum": "a"}}}', "a limit that is not a number", true],
    ["itself", '{"anyOf": [{"$ref": "#/properties/data"}]}', "refers to itself", true],
    ["nesting", "nest(150)", "deeper than 100 levels", false],
    ["a null character", '{"enum": ["a\\0b"]}', "null character", false],
  ])(
    "says that input is not checked early by a schema with %s, and goes live",
    async (_what, schema, why, isKept) => {
      const { key, name } = await scene.createService();
      const build = await scene.deploy(key, await scene.pack(name, modelled(schema)));
      expect(build.status).toBe("SUCCEEDED");
      expect(build.log.join("\n")).toContain(why);
      const { items } = await scene.read<{ items: Version[] }>(`/services/${key}/versions`);
      expect(items[0]?.inputSchema !== null).toBe(isKept);
      const started = await scene.instance.api.inject({
        method: "POST",
        url: `/api/jobs?serviceKey=${key}`,
        headers: { authorization: `Bearer ${scene.owner.token}`, "content-type": "application/json" },
        payload: '{"data":{"n":5}}',
      });
      expect(started.statusCode).toBe(201);
    },
  );
});
