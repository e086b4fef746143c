import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { createWorld } from "../support/world.ts";
import type { World } from "../support/world.ts";

const MINUTE = 60_000;
const PROGRAM = `
import os

def run(data: dict, params: dict):
    if data["n"] < 0:
        raise ValueError("negative")
    return {"n": data["n"], "exact": 12345678901234567890, "scale": os.environ.get("SCALE")}
`;

interface Replayed {
  readonly isIdentical: boolean;
  readonly difference: { readonly offset: number; readonly original: string } | null;
  readonly same: Readonly<Record<string, boolean>>;
}

let world: World | undefined;
afterEach(async () => {
  await world?.close();
  world = undefined;
});

test(
  "an execution is brought home: it runs again on this machine, and whether the result is the same is said to the byte",
  { timeout: 4 * MINUTE },
  async () => {
    world = await createWorld({ flags: ["--worker-cpu", "2", "--worker-memory", "4"] });
    const { cli, directory } = world;
    const { serviceKey } = await world.deploy(await world.createProject("tour", PROGRAM));
    const run = async (data: object) => {
      const { stdout } = await cli(
        directory,
        "run",
        "tour",
        "-d",
        JSON.stringify(data),
        "-p",
        "{}",
        "--json",
      );
      return (JSON.parse(stdout) as { id: string }).id;
    };
    const replay = async (id: string, ...flags: string[]) => {
      const { code, stdout, stderr } = await cli(directory, "run", "--replay", id, "--json", ...flags);
      if (stdout === "") throw new Error(stderr);
      return { exitCode: code, ...(JSON.parse(stdout) as Replayed) };
    };
    const plain = await run({ n: 1.5 });
    const same = { version: true, requirements: true, python: true, input: true };
    expect(await replay(plain)).toMatchObject({ exitCode: 0, isIdentical: true, difference: null, same });

    // Of what differs, the place is said: here of a variable, which a replay has from a file only.
    await writeFile(join(directory, "local.env"), "SCALE=7\n");
    const scaled = await replay(plain, "--env-file", "local.env");
    expect([scaled.exitCode, scaled.difference?.original]).toEqual([
      1,
      expect.stringContaining('"scale":null'),
    ]);

    // What an application has started, too: its organisation reads its input.
    const consumer = await world.subscribe(serviceKey);
    const { body } = await consumer.start({ data: { n: 2 } });
    await consumer.finish(body.id);
    expect(await replay(body.id)).toMatchObject({ exitCode: 0, isIdentical: true, same: {} });

    const unknown = await cli(directory, "run", "--replay", "00000000-0000-4000-8000-000000000000");
    expect([unknown.code, unknown.stderr]).toEqual([
      1,
      expect.stringContaining("There is no such execution."),
    ]);
    expect((await cli(directory, "run", "tour", "--replay", plain)).code).toBe(2);
    expect((await cli(directory, "run", "--replay", plain, "-d", "{}")).code).toBe(2);
  },
);

test(
  "what has failed with a file of a data pool fails the same at home, once file and list of the pool are there",
  { timeout: 4 * MINUTE, tags: "full" },
  async () => {
    world = await createWorld({ flags: ["--worker-cpu", "2", "--worker-memory", "4"] });
    const { cli, directory } = world;
    const { serviceKey } = await world.deploy(await world.createProject("tour", PROGRAM));
    await writeFile(join(directory, "bad.json"), '{"n": -1}');
    const say = async (...words: readonly string[]) => {
      const { code, stdout, stderr } = await cli(directory, ...words);
      if (code !== 0) throw new Error(stderr);
      return stdout;
    };
    await say("pools", "create", "Maps");
    await say("pools", "upload", "Maps", "bad.json");
    const dataRef: unknown = JSON.parse(await say("pools", "ref", "Maps", "bad.json"));
    const { body } = await world.api<{ id: string }>("POST", `/jobs?serviceKey=${serviceKey}`, { dataRef });
    const read = async () => (await world?.api("GET", `/jobs/${body.id}`))?.body;
    await expect.poll(read).toMatchObject({ status: "FAILED" });

    const refused = await cli(directory, "run", "--replay", body.id);
    expect([refused.code, refused.stderr]).toEqual([
      1,
      expect.stringContaining("platform pools ls Maps --json > datapools/Maps.json"),
    ]);
    await mkdir(join(directory, "datapools/Maps"), { recursive: true });
    await say("pools", "download", "Maps", "bad.json", "-o", "datapools/Maps/bad.json");
    await writeFile(join(directory, "datapools/Maps.json"), await say("pools", "ls", "Maps", "--json"));
    const replayed = JSON.parse(await say("run", "--replay", body.id, "--json")) as Replayed;
    expect(replayed).toMatchObject({
      isIdentical: true,
      status: { original: "FAILED", local: "FAILED" },
      code: { original: "EXECUTION_ERROR", local: "EXECUTION_ERROR" },
    });
  },
);
