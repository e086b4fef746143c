import { mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { afterEach, beforeEach, expect, test } from "vitest";
import { MEGABYTE } from "../../base/bytes.ts";
import { createDeferred } from "../../base/deferred.ts";
import { createFolderResults } from "../../content/folder-results.ts";
import { ContentNotStored } from "../../content/result-store.ts";
import type { ResultStore } from "../../content/result-store.ts";
import { createFixture } from "../../testing/python-fixture.ts";
import type { Fixture } from "../../testing/python-fixture.ts";
import { waitUntil } from "../../testing/wait-until.ts";
import type { Outcome, NotStarted } from "../port/runtime.ts";
import type { PythonRuntimeOptions } from "../port/settings.ts";

/* Results that are received into files, of real Python. User code that has taken the runner over writes to its connection itself. */

const LIMIT = 3 * MEGABYTE;
/** Finds the connection of the runner, and writes frames to it. */
const HIJACK = `
import os, struct, stat

def control():
    for number in map(int, os.listdir("/proc/self/fd")):
        try:
            if number > 2 and stat.S_ISSOCK(os.fstat(number).st_mode):
                return number
        except OSError:
            pass

def send(kind, payload, size=None):
    data = struct.pack(">IB", len(payload) if size is None else size, kind) + payload
    while data:
        data = data[os.write(control(), data):]
`;
const RESULT = 17;
const payload = (letter: string) => `b'{"a":"' + b"${letter}" * 5000 + b'"}'`;

let directory: string;
let folder: ResultStore;
/** What takes the place of the folder's `receive`. */
let receive: ResultStore["receive"];
let fixture: Fixture;

function openFixture(times: PythonRuntimeOptions["times"] = {}): Promise<Fixture> {
  const results = { receive: (content: Readable, limit: number) => receive(content, limit) };
  return createFixture({ results, limits: { resultBytes: LIMIT, inlineBytes: 1000 }, times }, "D");
}

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), "large-results-"));
  folder = createFolderResults(directory);
  receive = folder.receive;
  fixture = await openFixture();
});
afterEach(async () => {
  await fixture.close();
  rmSync(directory, { recursive: true });
});

function findOutput(outcome: Outcome | NotStarted) {
  if (outcome.status !== "SUCCEEDED" || outcome.output === undefined)
    throw new Error(`nothing was received: ${JSON.stringify(outcome)}`);
  const { result } = outcome.output;
  if (result === null) throw new Error("the result is in the message");
  return result;
}

async function run(program: string, timeoutSeconds = 20): Promise<Outcome | NotStarted> {
  const started = fixture.start(fixture.createVersion(program), { timeoutSeconds });
  const outcome = await started.outcome;
  await started.ended;
  return outcome;
}

const expectNothingLeft = () =>
  waitUntil(() => readdirSync(directory).length === 0, "nothing is left of what was received");

test("a large result is in a file, with its digest, size and metadata; a small one is in the message", async () => {
  const program = `
class Answer:
    result = {"text": "x" * 2_000_000, "last": [1]}
    metadata = {"by": "me"}

def run(): return Answer()
`;
  const outcome = await run(program);
  const { path, bytes } = findOutput(outcome);
  expect(JSON.parse(readFileSync(path, "utf8"))).toEqual({ text: "x".repeat(2_000_000), last: [1] });
  expect(readFileSync(path).length).toBe(bytes);
  expect(outcome).toMatchObject({ status: "SUCCEEDED", result: { length: 0 } });
  expect(outcome.status === "SUCCEEDED" && outcome.metadata?.toString()).toContain('"by":"me"');
  const small = await run("def run(): return {'x': 'y' * 900}\n");
  expect(small).toMatchObject({ status: "SUCCEEDED", result: { length: 908 } });
  expect(small).not.toHaveProperty("output");
});

test("one above the limit is refused by what it says of itself; nothing of it is read", async () => {
  const outcome = await run("def run(): return 'x' * 3_145_717\n");
  const detail = "The result has 3145729 bytes of JSON text, the limit is 3145728 bytes.";
  expect(outcome).toMatchObject({ status: "FAILED", code: "RESULT_TOO_LARGE", detail });
  expect(await run("def run(): return 'x' * 3_145_716\n")).toMatchObject({ status: "SUCCEEDED" });
  const forged = `${HIJACK}
def run():
    send(${RESULT}, b"{", size=4_000_000_000)
    os._exit(0)
`;
  expect(await run(forged)).toMatchObject({ code: "RESULT_TOO_LARGE" });
});

test.each([
  ["no object", "b'x' * 5000"],
  ["an object that does not begin as the runner's", 'b"{ " + b" " * 5000 + b"}"'],
  ["no ASCII", '"{\\"a\\":\\"".encode() + "é".encode() * 3000 + b\'"}\''],
])("text of user code that is %s is no result", async (_, payload) => {
  const outcome = await run(`${HIJACK}
def run():
    send(${RESULT}, ${payload})
    os._exit(0)
`);
  expect(outcome).toMatchObject({ status: "FAILED", code: "EXECUTION_ERROR" });
  await expectNothingLeft();
});

test("of two results that are sent the first counts, and nothing behind it is read", async () => {
  const outcome = await run(`${HIJACK}
def run():
    send(${RESULT}, ${payload("x")})
    send(${RESULT}, ${payload("y")})
    os._exit(0)
`);
  expect(readFileSync(findOutput(outcome).path, "utf8")).toContain("xxx");
  expect(readdirSync(directory)).toHaveLength(1);
});

test("a result that breaks off is none: the process died, or says more than it sends", async () => {
  const half = `send(${RESULT}, b'{"a":' + b" " * 500_000, size=1_000_000)`;
  const died = await run(`${HIJACK}
def run():
    ${half}
    os._exit(9)
`);
  expect(died).toMatchObject({ code: "EXECUTION_ERROR", detail: expect.stringContaining("exit code 9") });
  await expectNothingLeft();
  const silent = await run(
    `${HIJACK}
import time
def run():
    ${half}
    time.sleep(600)
`,
    2,
  );
  expect(silent).toMatchObject({ code: "TIMEOUT" });
  await expectNothingLeft();
});

test("a result that is stored slowly is waited for when its process is long gone", async () => {
  const gate = createDeferred<undefined>();
  receive = async (content, limit) => {
    const received = folder.receive(content, limit);
    await gate.promise;
    return received;
  };
  const send = `send(${RESULT}, b'{"a":"' + b"x" * 1_000_004 + b'"}')`;
  const program = `${HIJACK}\ndef run():\n    ${send}\n    os._exit(0)\n`;
  await fixture.close();
  fixture = await openFixture({ answerMs: 1 });
  const started = fixture.start(fixture.createVersion(program));
  let isDecided = false;
  void started.outcome.then(() => (isDecided = true));
  await started.ended;
  // Long after an answer is waited for that does not come.
  await fixture.start(fixture.createVersion("def run(): return {}\n")).ended;
  expect(isDecided).toBe(false);
  gate.resolve(undefined);
  expect(findOutput(await started.outcome).bytes).toBe(1_000_012);
});

test("a result that is not read any further keeps its process waiting, not this one's memory", async () => {
  const gate = createDeferred<undefined>();
  let taken = 0;
  receive = async (content) => {
    await gate.promise;
    for await (const chunk of content) taken += (chunk as Buffer).length;
    throw new Error("was read");
  };
  const program = `${HIJACK}
import select
def run():
    rest, number = struct.pack(">IB", 3_000_012, ${RESULT}) + b'{"a":"' + b"x" * 3_000_004 + b'"}', control()
    while rest and select.select([], [number], [], 0.5)[1]:
        rest = rest[os.write(number, rest[:4096]):]
    print("left:", len(rest), flush=True)
    while rest:
        rest = rest[os.write(number, rest):]
    os._exit(0)
`;
  const started = fixture.start(fixture.createVersion(program));
  const findLeft = () => started.lines.find(({ message }) => message.startsWith("left: "))?.message;
  await waitUntil(() => findLeft() !== undefined, "it has nothing more to write, or cannot");
  expect(Number(findLeft()?.slice("left: ".length))).toBeGreaterThan(1_000_000);
  gate.resolve(undefined);
  expect(await started.outcome).toMatchObject({ code: "RESULT_NOT_STORED" });
  expect(taken).toBe(3_000_012);
});

test("a run that is cancelled while its result is stored is cancelled, and nothing is left", async () => {
  const seen = createDeferred<undefined>();
  const gate = createDeferred<undefined>();
  receive = async (content, limit) => {
    seen.resolve(undefined);
    const received = await folder.receive(content, limit);
    await gate.promise;
    return received;
  };
  const started = fixture.start(fixture.createVersion("def run(): return 'x' * 1_000_000\n"));
  await seen.promise;
  started.kill({ code: "CANCELLED", detail: "by the caller" });
  expect(await started.outcome).toMatchObject({ code: "CANCELLED" });
  gate.resolve(undefined);
  await expectNothingLeft();
});

test.each([
  [new Error("EIO"), "The result could not be stored."],
  [new ContentNotStored("There is no room."), "The result could not be stored. There is no room."],
])("a result that cannot be stored is a failure that says so: %s", async (error, detail) => {
  receive = async () => {
    throw error;
  };
  const outcome = await run("def run(): return 'x' * 3_000_000\n");
  expect(outcome).toMatchObject({ status: "FAILED", code: "RESULT_NOT_STORED", detail });
});

test("a disk that is full in the middle of a result is such a failure, and its process ends", async () => {
  receive = async (content) => {
    let taken = 0;
    for await (const chunk of content.iterator({ destroyOnReturn: false })) {
      taken += (chunk as Buffer).length;
      if (taken > 500_000) throw new ContentNotStored("There is no room.");
    }
    throw new Error("all of it was read");
  };
  expect(await run("def run(): return 'x' * 3_000_000\n")).toMatchObject({ code: "RESULT_NOT_STORED" });
});
