import { chmod, mkdir, mkdtemp, readdir, rm, stat, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createConfigFile } from "./config-file.ts";

let directory = "";

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "platform-config-"));
});

afterEach(() => rm(directory, { recursive: true, force: true }));

const modeOf = async (path: string) => (await stat(path)).mode & 0o777;

test("the login can be read by its user alone, whatever the modes were before", async () => {
  const folder = join(directory, "config");
  await mkdir(folder);
  await chmod(folder, 0o777);
  await writeFile(join(folder, "config.json"), "{}", { mode: 0o666 });

  const file = createConfigFile(folder);
  await file.update(() => ({ personalAccessToken: "secret" }));

  expect(await modeOf(file.path)).toBe(0o600);
  expect(await modeOf(folder)).toBe(0o700);
});

test("what was written is read again, and nothing else lies in the folder", async () => {
  const file = createConfigFile(directory);
  const config = {
    endpoint: "https://platform.example.org",
    personalAccessToken: "t",
    context: { id: "o", name: "Lab" },
  };
  await Promise.all([file.update(() => config), file.update(() => config)]);

  expect(await file.read()).toEqual(config);
  expect(await readdir(directory)).toEqual(["config.json"]);
});

test("of changes at the same time none is lost", async () => {
  const add = () =>
    createConfigFile(directory).update(({ context }) => {
      const name = String(Number(context?.name ?? 0) + 1);
      return { context: { id: "o", name } };
    });
  await Promise.all(Array.from({ length: 20 }, add));

  expect(await createConfigFile(directory).read()).toEqual({ context: { id: "o", name: "20" } });
});

test("the lock of a killed command delays others only briefly", async () => {
  const file = createConfigFile(directory);
  const lock = `${file.path}.lock`;
  await writeFile(lock, "");
  const before = new Date(Date.now() - 60_000);
  await utimes(lock, before, before);

  await file.update(() => ({ endpoint: "https://platform.example.org" }));

  expect(await readdir(directory)).toEqual(["config.json"]);
});

test("no file is an empty configuration", async () => {
  expect(await createConfigFile(join(directory, "none")).read()).toEqual({});
});

test("a configuration that an editor saved with a byte order mark is read", async () => {
  const file = createConfigFile(directory);
  await writeFile(file.path, '\uFEFF{"endpoint": "https://platform.example.org"}');

  expect(await file.read()).toEqual({ endpoint: "https://platform.example.org" });
});

test.each([
  ["{", "cannot be used"],
  ["[]", "does not contain a JSON object"],
  ['{"personalAccessToken": 7}', "'personalAccessToken' is not a string"],
  ['{"context": {"name": "Lab"}}', "'context' has no 'id'"],
])("a broken file %s is named, with what to do", async (text, message) => {
  const file = createConfigFile(directory);
  await writeFile(file.path, text);

  await expect(file.read()).rejects.toMatchObject({
    code: "CONFIG_INVALID",
    message: expect.stringContaining(message),
    hint: expect.stringContaining("log in again"),
  });
});
