import { expect, test } from "vitest";
import { VERSION } from "@platform/engine/testing/version";
import { withSecrets } from "./with-secrets.ts";

function createScene() {
  const world = { values: {} as Readonly<Record<string, string>>, reads: 0, tell: () => undefined as void };
  const retired: string[] = [];
  const source = withSecrets(
    { prepare: async () => VERSION },
    {
      readOfVersion: async () => {
        world.reads += 1;
        return world.values;
      },
      subscribe: (listener) => {
        world.tell = listener;
        return () => undefined;
      },
    },
    async (id) => void retired.push(id),
  );
  const prepare = () => source.prepare("version", new AbortController().signal);
  return { world, retired, prepare };
}

test("a version without secrets is as it was", async () => {
  const { prepare } = createScene();
  expect(await prepare()).toBe(VERSION);
});

test("changed values make another warm process at the next start, and the one with the former values is ended", async () => {
  const { world, retired, prepare } = createScene();
  world.values = { API_TOKEN: "a first value" };
  const first = await prepare();
  expect(first).toMatchObject({ variables: world.values, secrets: ["a first value"] });
  expect((await prepare()).id).toBe(first.id);
  expect([world.reads, retired]).toEqual([1, []]);
  world.values = { API_TOKEN: "a second value" };
  world.tell();
  const second = await prepare();
  expect(second).toMatchObject({ variables: world.values, secrets: ["a second value"] });
  expect(second.id).not.toBe(first.id);
  expect(retired).toEqual([first.id]);
  expect(second.id).not.toContain("value");
});
