import { createDispatchScene, WITHIN } from "@platform/engine/testing/dispatch-scene";
import { expect, test } from "vitest";
import { VERSION } from "@platform/engine/testing/version";
import { createVariables } from "../secrets/variables.ts";
import { withVariables } from "./with-variables.ts";

function createScene() {
  const world = { values: {} as Readonly<Record<string, string>>, reads: 0, tell: () => undefined as void };
  const retired: string[] = [];
  const source = withVariables(
    { prepare: async () => VERSION },
    {
      readOfVersion: async () => {
        world.reads += 1;
        return { values: world.values, secrets: Object.values(world.values) };
      },
      subscribe: (listener) => {
        world.tell = listener;
        return () => undefined;
      },
    },
    async (id) => void retired.push(id),
  );
  const prepare = (id = "version") => source.prepare(id, new AbortController().signal);
  return { world, retired, prepare };
}

test("only so many versions are remembered as used", async () => {
  const { world, retired, prepare } = createScene();
  world.values = { API_TOKEN: "a first value" };
  for (let number = 0; number < 1_001; number++) await prepare(`version ${number}`);
  world.values = { API_TOKEN: "a second value" };
  world.tell();
  await prepare("version 0");
  expect(retired).toEqual([]);
  await prepare("version 1000");
  expect(retired).toHaveLength(1);
});

test("a version without variables is as it was", async () => {
  const { prepare } = createScene();
  expect(await prepare()).toBe(VERSION);
});

test("changed values make another warm process at the next start, and the one with the former values is ended", async () => {
  const { world, retired, prepare } = createScene();
  world.values = { API_TOKEN: "a first value" };
  const first = await prepare();
  expect(first).toMatchObject({ variables: world.values, secrets: ["a first value"] });
  const again = await prepare();
  // The list as well: what finds the values in logs is made once for it.
  expect([again.id, again.secrets === first.secrets]).toEqual([first.id, true]);
  expect([world.reads, retired]).toEqual([1, []]);
  world.values = { API_TOKEN: "a second value" };
  world.tell();
  const second = await prepare();
  expect(second).toMatchObject({ variables: world.values, secrets: ["a second value"] });
  expect(second.id).not.toBe(first.id);
  expect(retired).toEqual([first.id]);
  expect(second.id).not.toContain("value");
});

const unused = () => Promise.reject(new Error("not called"));

test("executions of versions whose secrets do not open go back and are left alone for a while; others run on this worker", async () => {
  const scene = await createDispatchScene();
  try {
    const program = "def run(): return {'ran': True}\n";
    const resources = { cpu: 0.1, memory: 0.1 };
    const stuck: string[] = [];
    for (let count = 0; count < 4; count++) stuck.push(await scene.start(program, { resources }));
    const wanting = new Set(await Promise.all(stuck.map(async (id) => (await scene.find(id)).versionId)));
    /** When the variables of each were read. */
    const reads = new Map<string, number[]>();
    const moved = { organisationId: "o", serviceKey: null, name: "API_TOKEN" };
    const stored = { ...moved, kind: "secret", sealed: "", keyId: "another" } as const;
    const readOfVersion = async (id: string) => {
      reads.set(id, [...(reads.get(id) ?? []), performance.now()]);
      return wanting.has(id) ? [stored] : [];
    };
    const store = {
      list: unused,
      put: unused,
      delete: unused,
      readOfService: unused,
      subscribe: () => () => undefined,
    };
    const secrets = createVariables(
      { ...store, readOfVersion },
      { current: "a secret of the platform, long enough", others: [] },
    );
    const source = { readOfVersion: secrets.readOfVersion, subscribe: store.subscribe };
    const versions = withVariables(scene.sources.versions, source, async () => undefined);
    const gaveBack = new Set<string>();
    scene.store.subscribe((event) => {
      if (event.type === "changed" && event.record?.status === "PENDING") gaveBack.add(event.id);
    });
    const worker = scene.createDispatcher({ versions });
    worker.start();
    await expect.poll(() => gaveBack, WITHIN).toEqual(new Set(stuck));
    const sound = await scene.start(program, { resources });
    await expect.poll(() => scene.statusOf(sound), WITHIN).toBe("SUCCEEDED");
    expect(worker.explainRest()).toBeNull();
    const timesOf = () => [...wanting].map((id) => reads.get(id) ?? []);
    await expect.poll(() => timesOf().some((times) => times.length > 1), WITHIN).toBe(true);
    for (const [first = Infinity, second = Infinity] of timesOf())
      expect(second - first).toBeGreaterThan(4_500);
    const errors = scene.logged
      .filter(({ level }) => level === "error")
      .map(({ fields }) => String(fields["err"]));
    expect(errors.length).toBeGreaterThanOrEqual(4);
    expect(errors[0]).toContain("The secret API_TOKEN was stored by a platform with another --secret");
  } finally {
    await scene.close();
  }
});
