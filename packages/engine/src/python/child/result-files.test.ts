import { mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createFolderResults } from "../../content/folder-results.ts";
import { ContentNotStored } from "../../content/result-store.ts";
import type { ResultStore } from "../../content/result-store.ts";
import { createFixture } from "../../testing/python-fixture.ts";
import type { Fixture } from "../../testing/python-fixture.ts";
import { waitUntil } from "../../testing/wait-until.ts";
import type { NotStarted, Outcome } from "../port/runtime.ts";

/* What real Python leaves in OUTPUT_DIRECTORY; and frames of user code that has taken the runner over. */

const LIMITS = { resultBytes: 1_000_000, inlineBytes: 1000, files: { count: 5, bytes: 2_000_000 } };
const WRITE = `
import os

def write(name, content):
    with open(os.path.join(os.environ["OUTPUT_DIRECTORY"], name), "wb") as file:
        file.write(content)
`;
const HIJACK = `
import os, struct, stat

def send(kind, payload):
    for number in map(int, os.listdir("/proc/self/fd")):
        try:
            if number > 2 and stat.S_ISSOCK(os.fstat(number).st_mode):
                control = number
        except OSError:
            pass
    data = struct.pack(">IB", len(payload), kind) + payload
    while data:
        data = data[os.write(control, data):]
`;
const [RESULT, FILE, CONTENT, OMITTED] = [17, 21, 22, 23];

let directory: string;
let folder: ResultStore;
let receive: ResultStore["receive"];
let fixture: Fixture;

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), "result-files-"));
  folder = createFolderResults(directory);
  receive = folder.receive;
  const results = { receive: (content: Readable, limit: number) => receive(content, limit) };
  fixture = await createFixture({ results, limits: LIMITS }, "D");
});
afterEach(async () => {
  await fixture.close();
  rmSync(directory, { recursive: true });
});

async function run(program: string): Promise<Outcome | NotStarted> {
  const started = fixture.start(fixture.createVersion(program));
  const outcome = await started.outcome;
  await started.ended;
  return outcome;
}

function readFiles(outcome: Outcome | NotStarted): Readonly<Record<string, string>> {
  if (outcome.status !== "SUCCEEDED") throw new Error(JSON.stringify(outcome));
  const files = outcome.output?.files ?? [];
  return Object.fromEntries(files.map(({ name, content }) => [name, readFileSync(content.path, "utf8")]));
}

function readOmitted(outcome: Outcome | NotStarted): unknown {
  if (outcome.status !== "SUCCEEDED") throw new Error(JSON.stringify(outcome));
  const metadata: unknown = JSON.parse(Buffer.from(outcome.metadata ?? []).toString() || "{}");
  return (metadata as Readonly<Record<string, unknown>>)["_omittedFiles"];
}

const expectNothingLeft = () =>
  waitUntil(() => readdirSync(directory).length === 0, "nothing is left of what was received");

test.each([
  ["small", 10],
  ["large", 5000],
])("files come with a %s result", async (_, length) => {
  const outcome = await run(`${WRITE}
def run():
    write("tour.csv", b"a,b\\n1,2\\n")
    write("empty", b"")
    return {"text": "x" * ${length}}
`);
  expect(readFiles(outcome)).toEqual({ "tour.csv": "a,b\n1,2\n", empty: "" });
  expect(readOmitted(outcome)).toBeUndefined();
  expect(outcome).toMatchObject({
    output: { result: length > 1000 ? { bytes: length + 11 } : null },
    result: { length: length > 1000 ? 0 : length + 11 },
  });
});

test("names that are none, or others' already, are left out, and the metadata say so; the code's own stay", async () => {
  const outcome = await run(`${WRITE}
class Answer:
    result = {}
    metadata = {"own": 1, "_omittedFiles": "mine"}

def run():
    write("self", b"1")
    write("back\\\\slash", b"2")
    write("Tour.csv", b"3")
    write("tour.csv", b"4")
    os.mkdir(os.path.join(os.environ["OUTPUT_DIRECTORY"], "folder"))
    return Answer()
`);
  expect(readFiles(outcome)).toEqual({ "Tour.csv": "3" });
  expect(readOmitted(outcome)).toEqual([
    { name: "back\\slash", reason: expect.stringContaining("no \\") },
    { name: "self", reason: expect.stringContaining("another link") },
    { name: "tour.csv", reason: expect.stringContaining("upper and lower case") },
    { name: "folder", reason: expect.stringContaining("a folder") },
  ]);
});

test.each([
  ["bytes", "write('a', b'x' * 2_000_001)", "2000000 bytes"],
  ["entries", "[write(str(n), b'') for n in range(6)]", "5 entries"],
])("more %s than the limit fail the run, which names it, and nothing is kept", async (_, code, limit) => {
  const outcome = await run(`${WRITE}\ndef run():\n    ${code}\n`);
  expect(outcome).toMatchObject({ code: "RESULT_TOO_LARGE", detail: expect.stringContaining(limit) });
  await expectNothingLeft();
});

test("a run that fails leaves no files", async () => {
  const outcome = await run(`${WRITE}\ndef run():\n    write("a", b"1")\n    raise ValueError("no")\n`);
  expect(outcome).toMatchObject({ code: "EXECUTION_ERROR" });
  await expectNothingLeft();
});

test("a file that cannot be stored fails the run, and the others are removed", async () => {
  let count = 0;
  receive = (content, limit) => {
    count += 1;
    if (count === 2) return Promise.reject(new ContentNotStored("There is no room."));
    return folder.receive(content, limit);
  };
  const outcome = await run(`${WRITE}\ndef run():\n    write("a", b"1")\n    write("b", b"2")\n`);
  expect(outcome).toMatchObject({ code: "RESULT_NOT_STORED", detail: expect.stringContaining("no room") });
  await expectNothingLeft();
});

test.each([
  ["content of no file", `send(${CONTENT}, b"x")`],
  ["a list that is none", `send(${OMITTED}, b"{}")`],
  ["a list of more than there may be", `send(${OMITTED}, b'[' + b'["",""],' * 10 + b'["",""]]')`],
  ["two lists", `send(${OMITTED}, b"[]"); send(${OMITTED}, b"[]")`],
  ["a file and no object", `send(${FILE}, b"a"); send(${RESULT}, b"x")`],
  ["a name without end", `send(${FILE}, b"a" * 5000)`],
])("%s is nothing that the runner sends", async (_, code) => {
  const outcome = await run(`${HIJACK}\ndef run():\n    ${code}\n    os._exit(0)\n`);
  // Without this it would be one that ended before it returned.
  const detail = "The code wrote to the runtime's own connection instead of returning from run.";
  expect(outcome).toMatchObject({ status: "FAILED", code: "EXECUTION_ERROR", detail });
  await expectNothingLeft();
});

test.each([
  ["entries", `[send(${FILE}, b"%d" % n) for n in range(6)]`],
  ["names that are refused", `[send(${FILE}, b"/") for n in range(6)]`],
  ["bytes", `send(${FILE}, b"a"); [send(${CONTENT}, b"x" * 900_000) for n in range(3)]`],
  [
    "bytes of a name that is refused",
    `send(${FILE}, b".."); [send(${CONTENT}, b"x" * 900_000) for n in range(3)]`,
  ],
])("the platform counts for itself: too many %s", async (_, code) => {
  const outcome = await run(
    `${HIJACK}\ndef run():\n    ${code}\n    send(${RESULT}, b"{}")\n    os._exit(0)\n`,
  );
  expect(outcome).toMatchObject({ status: "FAILED", code: "RESULT_TOO_LARGE" });
  await expectNothingLeft();
});

test("names of user code lead nowhere", async () => {
  const names = ["../up", "/etc/passwd", "..", "", "a\\0b", "nul\\n", "\\u202e", "x.", " x", "y".repeat(300)];
  for (const name of names) {
    const outcome = await run(
      `${HIJACK}\ndef run():\n    send(${FILE}, "${name}".encode())\n    send(${CONTENT}, b"x")\n    send(${RESULT}, b"{}")\n    os._exit(0)\n`,
    );
    expect([readFiles(outcome), readOmitted(outcome)]).toEqual([{}, [expect.anything()]]);
  }
  await expectNothingLeft();
});
