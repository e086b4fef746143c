import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { connect } from "node:net";
import type { Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createDeferred } from "../../base/deferred.ts";
import { VERSION } from "../../testing/version.ts";
import { waitUntil } from "../../testing/wait-until.ts";
import type { RunRequest } from "../port/runtime.ts";
import type { Settings } from "../port/settings.ts";
import { FRAME, createFrameDecoder, encodeFrame } from "../wire/frames.ts";
import { openHomeSocket } from "../wire/home-socket.ts";
import type { Connections, HomeSocket } from "../wire/home-socket.ts";
import { createPaces } from "../wire/pace.ts";
import { createExecution } from "./execution.ts";
import type { Execution } from "./execution.ts";
import type { Usage } from "./usage.ts";

/* An execution and real connections; the other end of them is played by the test, as user code may play it. */

const TOKEN = "0123456789abcdef0123456789abcdef";
const RESULT = Buffer.from('{"value":1}');
const SUCCEEDED = { status: "SUCCEEDED", result: RESULT, metadata: null };
const EXIT = { event: "exit", id: 1, code: 0, signal: null } as const;
const SETTINGS: Settings = {
  slots: 1,
  capacity: null,
  idleMs: 60_000,
  zygoteIdleMs: 60_000,
  zygoteMemoryBytes: 1e9,
  maxZygotes: 1,
  results: null,
  resultBytes: 1000,
  inlineBytes: 1000,
  explainPoolName: () => null,
  files: { count: 10, bytes: 1000 },
  logBytes: 1000,
  logLineBytes: 100,
  graceMs: 60_000,
  externalGraceMs: 60_000,
  answerMs: 1000,
  exitMs: 60_000,
  confirmMs: 60_000,
  drainMs: 10,
  helloMs: 60_000,
  bootMs: 60_000,
  failureMs: 60_000,
  parkMs: 60_000,
  maxParkMs: 60_000,
  maxAgeMs: 60_000,
  canaryMs: 60_000,
  canaryLateMs: 60_000,
  replaceMs: 60_000,
};
/** Output that is held open is waited for longer than any test. */
const PATIENT: Settings = { ...SETTINGS, drainMs: 3_600_000 };
const REQUEST: RunRequest = {
  executionId: "execution",
  version: VERSION,
  input: { body: Buffer.from("{}") },
  timeoutSeconds: 60,
  onLog: async () => undefined,
};

/** The child's end of its connections, and ours. */
interface Dialled {
  readonly control: Socket;
  readonly stdout: Socket;
  readonly stderr: Socket;
  readonly connections: Connections;
}

let directory: string;
let home: HomeSocket;
let sockets: Socket[] = [];
/** What the execution asked of its host. */
let asked: string[] = [];

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), "execution-"));
  home = await openHomeSocket(join(directory, "home"), createPaces());
  sockets = [];
  asked = [];
});
afterEach(() => {
  for (const socket of sockets) socket.destroy();
  home.close();
  rmSync(directory, { recursive: true });
});

async function dial(channel: string, early: Buffer): Promise<Socket> {
  const socket = connect(join(directory, "home"));
  sockets.push(socket);
  socket.on("error", () => undefined);
  socket.resume();
  await once(socket, "connect");
  socket.write(Buffer.concat([encodeFrame(FRAME.hello, Buffer.from(channel + TOKEN)), early]));
  return socket;
}

/** @param early what the child sends on its control connection before it has been given anything */
async function dialAll(early = Buffer.alloc(0)): Promise<Dialled> {
  const complete = createDeferred<Connections>();
  home.expect(TOKEN, { onCall: () => home.admit(TOKEN, "untold"), onComplete: complete.resolve });
  const control = await dial(
    "c",
    Buffer.concat([encodeFrame(FRAME.call, Buffer.alloc(4)), encodeFrame(FRAME.ready), early]),
  );
  const [stdout, stderr] = [await dial("o", Buffer.alloc(0)), await dial("e", Buffer.alloc(0))];
  return { control, stdout, stderr, connections: await complete.promise };
}

function create(changes: Partial<RunRequest> = {}, settings = SETTINGS): Execution {
  return createExecution({ ...REQUEST, ...changes }, settings, () => asked.push("leave the queue"));
}

function handOver(
  execution: Execution,
  connections: Connections,
  measure: () => Usage | null = () => null,
): void {
  execution.handOver(connections, {
    signal: (signal) => asked.push(`signal ${signal}`),
    measure,
    inputs: null,
    door: null,
    needsLive: false,
    explainNetwork: () => null,
    onAnswered: () => asked.push("answered"),
    onStuck: () => asked.push("stuck"),
  });
}

test("a request is written to the child, and its answer is the outcome once its output has ended", async () => {
  const { control, stdout, stderr, connections } = await dialAll();
  const decoder = createFrameDecoder(() => 1000);
  control.on("data", (chunk: Buffer) => decoder.push(chunk));
  const execution = create({}, PATIENT);
  handOver(execution, connections);
  expect(await execution.run.began).toBe(true);
  const types: number[] = [];
  await waitUntil(() => {
    const step = decoder.next();
    if (step !== null && "frame" in step) types.push(step.frame.type);
    return types.includes(FRAME.start);
  }, "the request is there");
  expect(types).toEqual([FRAME.request, FRAME.body, FRAME.start]);
  control.write(encodeFrame(FRAME.result, RESULT));
  stdout.end();
  stderr.end();
  expect(await execution.run.outcome).toEqual(SUCCEEDED);
  execution.onExit(EXIT);
  execution.onGone();
  await execution.run.ended;
  expect(asked).toEqual(["answered"]);
});

test("of answers that were forged ahead of the request the first counts, and the connection is closed", async () => {
  const failure = Buffer.from('{"code":"Forged","detail":"by user code"}');
  const forged = [encodeFrame(FRAME.failure, failure), encodeFrame(FRAME.result, RESULT)];
  const { control, connections } = await dialAll(Buffer.concat(forged));
  const closed = once(control, "close");
  const execution = create();
  handOver(execution, connections);
  expect(await execution.run.outcome).toEqual({ status: "FAILED", code: "Forged", detail: "by user code" });
  await closed;
  expect(asked).toEqual(["answered"]);
  execution.onLost("the sandbox ended");
  await execution.run.ended;
});

test("an answer that is read only when no process is left counts, and nothing is signalled any more", async () => {
  const { control, connections } = await dialAll();
  const execution = create();
  handOver(execution, connections);
  execution.onExit(EXIT);
  execution.onGone();
  await execution.run.ended;
  control.write(encodeFrame(FRAME.result, RESULT));
  expect(await execution.run.outcome).toEqual(SUCCEEDED);
  execution.run.kill({ code: "CANCELLED", detail: "late" });
  expect(asked).toEqual(["answered"]);
});

test("what is used until the answer counts, also where the zygote has said before that the process has ended", async () => {
  const { control, connections } = await dialAll();
  const execution = create();
  let cpuSeconds = 0.01;
  handOver(execution, connections, () => ({ cpuSeconds, peakMemoryBytes: null, outOfMemoryKills: 0 }));
  execution.onExit(EXIT);
  cpuSeconds = 0.6;
  control.write(encodeFrame(FRAME.result, RESULT));
  expect(await execution.run.outcome).toMatchObject({ status: "SUCCEEDED", cpuSeconds: 0.6 });
});

test("the outcome waits until everything that was printed is stored", async () => {
  const { control, stdout, stderr, connections } = await dialAll();
  const stored = createDeferred<undefined>();
  const given: string[] = [];
  const execution = create({
    onLog: async (lines) => {
      given.push(...lines.map((line) => line.message));
      await stored.promise;
    },
  });
  let settled: unknown = null;
  void execution.run.outcome.then((outcome) => (settled = outcome));
  handOver(execution, connections);
  const closed = once(stdout, "close");
  stdout.write("one\ntwo\n");
  await waitUntil(() => given.length > 0, "the log was given to the store");
  control.write(encodeFrame(FRAME.result, RESULT));
  stdout.end();
  stderr.end();
  await closed;
  expect([given, settled]).toEqual([["one", "two"], null]);
  stored.resolve(undefined);
  expect(await execution.run.outcome).toEqual(SUCCEEDED);
  execution.onLost("the sandbox ended");
});

test("output that is held open is read until nothing comes, and then closed", async () => {
  const { control, stdout, connections } = await dialAll();
  const closed = once(stdout, "close");
  const execution = create();
  handOver(execution, connections);
  control.write(encodeFrame(FRAME.result, RESULT));
  expect(await execution.run.outcome).toEqual(SUCCEEDED);
  await closed;
  execution.onLost("the sandbox ended");
});

test("output that is held open is closed at once when the budget of the log is spent", async () => {
  const { control, stdout, connections } = await dialAll();
  const execution = create({}, PATIENT);
  handOver(execution, connections);
  control.write(encodeFrame(FRAME.result, RESULT));
  stdout.write("a line\n".repeat(1000));
  expect(await execution.run.outcome).toEqual(SUCCEEDED);
  execution.onLost("the sandbox ended");
});

test("an execution that was cancelled in the queue leaves it, and is given to no child", async () => {
  const { control, connections } = await dialAll();
  const execution = create();
  execution.run.kill({ code: "CANCELLED", detail: "by the caller" });
  handOver(execution, connections);
  expect(await execution.run.began).toBe(false);
  expect(await execution.run.outcome).toEqual({
    status: "FAILED",
    code: "CANCELLED",
    detail: "by the caller",
  });
  await execution.run.ended;
  expect(asked).toEqual(["leave the queue"]);
  connections.control.destroy();
  await once(control, "close");
  expect(control.bytesRead).toBe(0);
});

test("of an execution whose input cannot be brought to its child the child ends: its connections are closed, and nothing was asked of it", async () => {
  const { control, stdout, stderr, connections } = await dialAll();
  const files = { bytes: { data: 2 }, moveTo: () => "", discard: () => undefined };
  const execution = create({ input: { body: Buffer.from("{}"), referred: { files, pins: {} } } });
  handOver(execution, connections);
  expect(await execution.run.outcome).toMatchObject({
    status: "NOT_STARTED",
    scope: "worker",
    detail: expect.stringContaining("There is no folder for inputs."),
  });
  expect(await execution.run.began).toBe(false);
  await execution.run.ended;
  const ends = [control, stdout, stderr];
  await waitUntil(() => ends.every(({ destroyed }) => destroyed), "its connections are closed");
  expect([asked, control.bytesRead]).toEqual([[], 0]);
});

test("what a killed run had written before its end is read to its end, and what stands in the place of an answer is none", async () => {
  const { control, stdout, stderr, connections } = await dialAll();
  const reported: string[] = [];
  const onProgress: RunRequest["onProgress"] = async ({ checkpoint }) =>
    void reported.push(Buffer.from(checkpoint ?? []).toString());
  const execution = create({ onProgress }, PATIENT);
  handOver(execution, connections);
  await execution.run.began;
  for (const text of ['{"n":1}', '{"n":2}']) control.write(encodeFrame(FRAME.checkpoint, Buffer.from(text)));
  control.end(encodeFrame(FRAME.result, RESULT));
  stdout.end();
  stderr.end();
  // Nothing of it has been read.
  execution.run.kill({ code: "TIMEOUT", detail: "It took too long." });
  execution.onExit(EXIT);
  execution.onGone();
  expect(await execution.run.outcome).toEqual({
    status: "FAILED",
    code: "TIMEOUT",
    detail: "It took too long.",
  });
  expect(reported).toEqual(['{"n":2}']);
});

test("a killed run whose connection something holds open is not waited for", async () => {
  const { connections } = await dialAll();
  const execution = create({ onProgress: async () => undefined });
  handOver(execution, connections);
  execution.run.kill({ code: "TIMEOUT", detail: "It took too long." });
  execution.onExit(EXIT);
  expect(await execution.run.outcome).toMatchObject({ code: "TIMEOUT" });
  execution.onGone();
});
