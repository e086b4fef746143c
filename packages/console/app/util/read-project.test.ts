import { strToU8, zipSync } from "fflate";
import { expect, test } from "vitest";
import { readProject } from "./read-project.ts";

const PROJECT = JSON.stringify({ name: "tsp", description: "Short tours", runtime: "PYTHON_TEMPLATE" });

function pack(files: Readonly<Record<string, string>>): Uint8Array {
  return zipSync(Object.fromEntries(Object.entries(files).map(([path, text]) => [path, strToU8(text)])));
}

test("name, description and sizes of a project are read", async () => {
  const packed = pack({ "platform.json": PROJECT, "src/program.py": "def run(): ...\n" });
  expect(await readProject(packed)).toEqual({
    name: "tsp",
    description: "Short tours",
    files: 2,
    bytes: PROJECT.length + 15,
    doubtful: [],
  });
});

test("files that are rarely meant to be deployed are named", async () => {
  const found = await readProject(pack({ "platform.json": PROJECT, ".env": "KEY=1", ".git/HEAD": "x" }));
  expect(found.doubtful).toEqual([".env", ".git/HEAD"]);
});

test.each([
  ["no ZIP file", strToU8("not an archive"), "This is no ZIP file."],
  [
    "no platform.json",
    pack({ "src/program.py": "" }),
    "There is no platform.json at the top of the archive.",
  ],
  [
    "a folder around the project",
    pack({ "tsp/platform.json": PROJECT }),
    "platform.json lies in the folder 'tsp/': pack what is in the folder, not the folder.",
  ],
  ["no JSON", pack({ "platform.json": "{" }), "platform.json is no valid JSON."],
  ["no name", pack({ "platform.json": "{}" }), "platform.json has no name."],
  [
    "a name that no service can have",
    pack({ "platform.json": '{"name": "My service"}' }),
    "name in platform.json must be lower-case letters, digits and hyphens, at most 63",
  ],
])("%s is told before anything is sent", async (_, packed, message) => {
  await expect(readProject(packed)).rejects.toThrow(message);
});
