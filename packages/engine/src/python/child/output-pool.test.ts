import { mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createFolderResults } from "../../content/folder-results.ts";
import { createFixture } from "../../testing/python-fixture.ts";
import type { Fixture } from "../../testing/python-fixture.ts";
import { waitUntil } from "../../testing/wait-until.ts";
import type { NotStarted, Outcome, OutputFile } from "../port/runtime.ts";

/* What real Python leaves in its output pool. */

const POOL_ID = "11111111-1111-4111-8111-111111111111";
const OUTPUT_POOL = { path: ["params", "tours"], dataPoolId: POOL_ID };
const LIMITS = { resultBytes: 1_000_000, inlineBytes: 1000, files: { count: 5, bytes: 2_000_000 } };
const DECLARE = `
import os
from dataclasses import dataclass
from platform_service import OutputPool

@dataclass
class Params:
    tours: OutputPool
`;
const POOL_FILE = 24;

const explainPoolName = (name: string) => (name.startsWith(".") ? "Not in this pool." : null);

let directory: string;
let fixture: Fixture;

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), "output-pool-"));
  const results = createFolderResults(directory);
  fixture = await createFixture({ results, limits: LIMITS, explainPoolName }, "D");
});
afterEach(async () => {
  await fixture.close();
  rmSync(directory, { recursive: true });
});

async function run(
  program: string,
  given: object = { outputPool: OUTPUT_POOL },
): Promise<Outcome | NotStarted> {
  const version = fixture.createVersion(`${DECLARE}${program}`);
  return (await fixture.finish(version, { params: { tours: { dataPoolId: POOL_ID } }, ...given })).outcome;
}

const readFiles = (files: readonly OutputFile[] = []) =>
  Object.fromEntries(files.map(({ name, content }) => [name, readFileSync(content.path, "utf8")]));

const expectNothingLeft = () =>
  waitUntil(() => readdirSync(directory).length === 0, "nothing is left of what was received");

test("its files come apart from those of the result; what is none is left out, and the metadata say so", async () => {
  const outcome = await run(`
def run(params: Params):
    with params.tours.open("tour.csv") as file:
        file.write("Köln")
    with params.tours.open("self", "wb") as file:
        file.write(b"1")
    with open(os.path.join(os.environ["OUTPUT_DIRECTORY"], "tour.csv"), "w") as file:
        file.write("of the result")
    os.symlink("/etc/passwd", params.tours.file("passwd"))
    os.link(params.tours.file("self"), params.tours.file("hard"))
    return {"id": params.tours.id}
`);
  if (outcome.status !== "SUCCEEDED") throw new Error(JSON.stringify(outcome));
  expect(JSON.parse(Buffer.from(outcome.result).toString())).toEqual({ id: POOL_ID });
  expect(readFiles(outcome.output?.files)).toEqual({ "tour.csv": "of the result" });
  expect(readFiles(outcome.output?.poolFiles)).toEqual({ "tour.csv": "Köln" });
  expect(JSON.parse(Buffer.from(outcome.metadata ?? []).toString())).toMatchObject({
    _omittedFiles: [
      { name: "hard", reason: "in the output pool: it has other names: a hard link" },
      { name: "passwd", reason: "in the output pool: it is a symbolic link" },
      { name: "self", reason: expect.stringContaining("in the output pool") },
    ],
  });
});

test("names that no file of a pool can have, or that are one without regard to case, are left out", async () => {
  const outcome = await run(`
def run(params: Params):
    for name in ("a\\\\b", "x.", "Tour", "tour", "self"):
        open(os.path.join(params.tours, name), "w").close()
`);
  if (outcome.status !== "SUCCEEDED") throw new Error(JSON.stringify(outcome));
  expect(Object.keys(readFiles(outcome.output?.poolFiles))).toEqual(["Tour", "self"]);
  const metadata = JSON.parse(Buffer.from(outcome.metadata ?? []).toString()) as object;
  expect(metadata).toMatchObject({
    _omittedFiles: ["a\\b", "tour", "x."].map((name) => ({
      name,
      reason: expect.stringMatching(/^In the output pool: /u),
    })),
  });
});

test("names that this pool does not take are left out of it, and are files of the result", async () => {
  const outcome = await run(`
def run(params: Params):
    for folder in (params.tours, os.environ["OUTPUT_DIRECTORY"]):
        open(os.path.join(folder, ".hidden"), "w").close()
`);
  if (outcome.status !== "SUCCEEDED") throw new Error(JSON.stringify(outcome));
  expect(readFiles(outcome.output?.poolFiles)).toEqual({});
  expect(readFiles(outcome.output?.files)).toEqual({ ".hidden": "" });
  expect(JSON.parse(Buffer.from(outcome.metadata ?? []).toString())).toMatchObject({
    _omittedFiles: [{ name: ".hidden", reason: "In the output pool: Not in this pool." }],
  });
});

test.each([
  ["files that are too large", `params.tours.open("a", "wb").write(b"x" * 2_000_001)`],
  ["too many files", `[params.tours.open(str(n)).close() for n in range(6)]`],
  [
    "too many files together with the result's",
    `[open(os.path.join(folder, str(n)), "w").close() for n in range(3) for folder in (params.tours, os.environ["OUTPUT_DIRECTORY"])]`,
  ],
  [
    "files that are too large together with the result's",
    `[open(os.path.join(folder, "a"), "wb").write(b"x" * 1_100_000) for folder in (params.tours, os.environ["OUTPUT_DIRECTORY"])]`,
  ],
])("a run that leaves %s fails, which says so, and nothing is kept", async (_, code) => {
  const outcome = await run(`\ndef run(params: Params):\n    ${code}\n`);
  expect(outcome).toMatchObject({
    code: "RESULT_TOO_LARGE",
    detail: expect.stringContaining("The output pool"),
  });
  await expectNothingLeft();
});

test("a run that fails leaves nothing for the pool", async () => {
  const outcome = await run(`
def run(params: Params):
    params.tours.open("a").close()
    raise ValueError("no")
`);
  expect(outcome).toMatchObject({ code: "EXECUTION_ERROR" });
  await expectNothingLeft();
});

test("files for a pool that the start did not name are nothing that the runner sends", async () => {
  const outcome = await run(
    `
import stat, struct
def run():
    for number in map(int, os.listdir("/proc/self/fd")):
        try:
            if number > 2 and stat.S_ISSOCK(os.fstat(number).st_mode):
                os.write(number, struct.pack(">IB", 1, ${POOL_FILE}) + b"a")
        except OSError:
            pass
    return {}
`,
    {},
  );
  expect(outcome).toMatchObject({ status: "FAILED", code: "EXECUTION_ERROR" });
  await expectNothingLeft();
});

test("an input that names no pool in its place is refused", async () => {
  const outcome = await run("\ndef run(params: Params):\n    return {}\n", { params: { tours: "text" } });
  expect(outcome).toMatchObject({ status: "FAILED", code: "INVALID_INPUT" });
});
