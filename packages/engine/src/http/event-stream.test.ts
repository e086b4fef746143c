import { afterEach, expect, test } from "vitest";
import { readEvents } from "@platform/contract/event-stream";
import type { ServerEvent } from "@platform/contract/event-stream";
import { Problem } from "@platform/contract/problems";
import { createDeferred } from "../base/deferred.ts";
import { DAY } from "../base/time.ts";
import { createStreamRoom } from "../executions/stream-room.ts";
import { createLine, createUuidAt } from "../testing/execution-fixtures.ts";
import { LOG_RETENTION_DAYS, SUCCESS, openServiceApiScene } from "../testing/service-api-scene.ts";
import type { ServiceApiScene } from "../testing/service-api-scene.ts";
import { waitUntil } from "../testing/wait-until.ts";
import { STREAM_TIMES } from "./event-stream.ts";

let closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

type Headers = Readonly<Record<string, string>>;

/** The server listens: a stream needs a connection. */
async function open(options: Parameters<typeof openServiceApiScene>[0] = {}) {
  const scene = await openServiceApiScene(options);
  closing.push(scene.close);
  const origin = await scene.app.listen({ host: "127.0.0.1", port: 0 });
  const send = async (path: string, headers: Headers = {}, method = "GET"): Promise<Response> => {
    const leaving = new AbortController();
    const response = await fetch(`${origin}${path}`, { headers, method, signal: leaving.signal });
    // Kept until then: the connection of a response that is collected as garbage is closed.
    closing.push(async () => {
      leaving.abort();
      await response.body?.cancel().catch(() => undefined);
    });
    return response;
  };
  return {
    scene,
    send,
    follow: async (path: string, headers: Headers = {}) => read(await send(path, headers)),
  };
}

/** What came so far, and whether the stream has ended. */
function read(response: Response) {
  expect(response.status).toBe(200);
  expect(response.headers.get("content-type")).toBe("text/event-stream");
  if (response.body === null) throw new Error("There is no body.");
  const seen: ServerEvent[] = [];
  const stream = { seen, hasEnded: false };
  void (async () => {
    for await (const event of readEvents(response.body ?? new ReadableStream())) seen.push(event);
  })()
    .catch(() => undefined)
    .finally(() => {
      stream.hasEnded = true;
    });
  return stream;
}

function describe(events: readonly ServerEvent[]): readonly string[] {
  return events.map(({ event, data }) => {
    const value = JSON.parse(data) as { status?: string; code?: string } | { message: string }[];
    if (Array.isArray(value)) return `${event} ${value.map(({ message }) => message.slice(0, 9)).join(" ")}`;
    return [event, value.status ?? value.code].filter((part) => part !== undefined).join(" ");
  });
}

async function startOne(scene: ServiceApiScene): Promise<string> {
  return (await scene.start()).json<{ id: string }>().id;
}

async function readProblem(response: Response): Promise<string> {
  return `${response.status} ${((await response.json()) as { code: string }).code}`;
}

test.each(["/hosted", "/jobs", ""])(
  "at %s a stream shows the current state, each that follows, all lines, the final state, and ends",
  async (prefix) => {
    const { scene, follow } = await open();
    const id = await startOne(scene);
    const stream = await follow(`${prefix}/${id}/events`);
    await waitUntil(() => stream.seen.length === 1);
    const claim = await scene.claimOne();
    await waitUntil(() => stream.seen.length === 2);
    await scene.store.appendLog(claim, [createLine("one"), createLine("two\nlines")]);
    await waitUntil(() => stream.seen.length === 3);
    await scene.store.appendLog(claim, [createLine("last")]);
    await scene.store.finish(claim, SUCCESS);
    await waitUntil(() => stream.hasEnded);
    expect(describe(stream.seen)).toEqual([
      "state PENDING",
      "state RUNNING",
      "log one two\nlines",
      "log last",
      "state SUCCEEDED",
      "end",
    ]);
    const { body } = await scene.app.inject({ url: `/hosted/${id}` });
    expect(stream.seen.at(-2)?.data).toBe(body);
  },
);

/** The lines, which are numbered. */
function listLines(events: readonly ServerEvent[]): readonly number[] {
  return events
    .filter(({ event }) => event === "log")
    .flatMap(({ data }) => JSON.parse(data) as { message: string }[])
    .map(({ message }) => Number(message.split(".")[0]));
}

test("with Last-Event-ID a stream goes on behind what was received, also after the end, without loss or repetition", async () => {
  const { scene, follow } = await open();
  const id = await startOne(scene);
  const claim = await scene.claimOne();
  const messages = Array.from({ length: 50 }, (_, index) => `${index}`);
  for (const message of messages) await scene.store.appendLog(claim, [createLine(message.padEnd(2000, "."))]);
  await scene.store.finish(claim, SUCCESS);
  const whole = await follow(`/hosted/${id}/events`);
  await waitUntil(() => whole.hasEnded);
  expect(listLines(whole.seen)).toEqual(messages.map(Number));
  expect(whole.seen.filter(({ event }) => event === "log").length).toBeGreaterThan(2);
  for (let at = 0; at < whole.seen.length; at += 1) {
    const last = whole.seen[at]?.id ?? "";
    const rest = await follow(`/hosted/${id}/events`, { "last-event-id": last });
    await waitUntil(() => rest.hasEnded);
    expect([...listLines(whole.seen.slice(0, at + 1)), ...listLines(rest.seen)]).toEqual(
      messages.map(Number),
    );
    expect(describe(rest.seen).slice(-2)).toEqual(["state SUCCEEDED", "end"]);
  }
});

test("what cannot be followed is refused as an answer of its own", async () => {
  const { scene, send } = await open();
  const id = await startOne(scene);
  const path = `/hosted/${id}/events`;
  for (const bad of ["x y", "-1", "é".repeat(3), "9".repeat(300), "1e3"])
    expect(await readProblem(await send(path, { "last-event-id": encodeHeader(bad) }))).toBe(
      "400 INVALID_INPUT",
    );
  expect(await readProblem(await send(path, { accept: "application/json" }))).toBe("406 NOT_ACCEPTABLE");
  expect(await readProblem(await send(path, { "x-owner": "bob" }))).toBe("404 EXECUTION_NOT_FOUND");
  expect(await readProblem(await send("/hosted/none/events"))).toBe("400 INVALID_INPUT");
  const old = createUuidAt(Date.now() - 90 * DAY);
  expect(await readProblem(await send(`/hosted/${old}/events`))).toBe("410 RESULT_EXPIRED");
  expect(await readProblem(await send(path, {}, "POST"))).toBe("405 METHOD_NOT_ALLOWED");
  const head = await send(path, { accept: "text/*" }, "HEAD");
  expect([head.status, head.headers.get("content-type"), await head.text()]).toEqual([
    200,
    "text/event-stream",
    "",
  ]);
});

/** As Latin-1, which is all that a header can have. */
function encodeHeader(text: string): string {
  return Buffer.from(text).toString("latin1");
}

test("an expired log is left out, unless the stream is to go on in it", async () => {
  const { scene, send, follow } = await open();
  const id = await scene.startAndFinish(SUCCESS);
  const { position } = (await scene.store.readLog(id, "alice")) ?? {};
  scene.setNow(Date.now() + (LOG_RETENTION_DAYS + 1) * DAY);
  const stream = await follow(`/hosted/${id}/events`);
  await waitUntil(() => stream.hasEnded);
  expect(describe(stream.seen)).toEqual(["state SUCCEEDED", "state SUCCEEDED", "end"]);
  const again = await send(`/hosted/${id}/events`, { "last-event-id": position ?? "" });
  expect(await readProblem(again)).toBe("410 LOG_EXPIRED");
});

test("who may not read logs gets states only, and who loses that right no line more", async () => {
  const hidden = new Set(["carol"]);
  const { scene, follow } = await open({
    streamTimes: { ...STREAM_TIMES, checkMs: 20 },
    requireLogs: (owner) => {
      if (hidden.has(owner)) throw new Problem("FORBIDDEN");
    },
  });
  const id = (await scene.start({}, { "x-owner": "carol" })).json<{ id: string }>().id;
  const claim = await scene.claimOne();
  await scene.store.appendLog(claim, [createLine("secret")]);
  const states = await follow(`/hosted/${id}/events`, { "x-owner": "carol" });
  await waitUntil(() => states.seen.length > 0);
  await scene.store.finish(claim, SUCCESS);
  await waitUntil(() => states.hasEnded);
  expect(describe(states.seen)).toEqual(["state RUNNING", "state SUCCEEDED", "end"]);
  const other = await startOne(scene);
  const reading = await follow(`/hosted/${other}/events`);
  hidden.add("alice");
  await waitUntil(() => reading.hasEnded);
  expect(describe(reading.seen)).toEqual(["state PENDING", "closed FORBIDDEN"]);
});

test("a stream ends when the caller's token is revoked, and says so", async () => {
  const { scene, follow } = await open({ streamTimes: { ...STREAM_TIMES, checkMs: 20 } });
  const stream = await follow(`/hosted/${await startOne(scene)}/events`);
  await waitUntil(() => stream.seen.length === 1);
  scene.revoked.add("alice");
  await waitUntil(() => stream.hasEnded);
  expect(describe(stream.seen)).toEqual(["state PENDING", "closed UNAUTHENTICATED"]);
});

test("a stream ends when the caller's token stands for another subscription", async () => {
  const { scene, follow } = await open({ streamTimes: { ...STREAM_TIMES, checkMs: 20 } });
  const stream = await follow(`/hosted/${await startOne(scene)}/events`);
  await waitUntil(() => stream.seen.length === 1);
  scene.successors.set("alice", "new alice");
  await waitUntil(() => stream.hasEnded);
  expect(describe(stream.seen)).toEqual(["state PENDING", "closed EXECUTION_NOT_FOUND"]);
});

test("a stream without events says that it lives", async () => {
  const { scene, send } = await open({ streamTimes: { ...STREAM_TIMES, heartbeatMs: 20 } });
  const response = await send(`/hosted/${await startOne(scene)}/events`);
  const reader = response.body?.getReader();
  let text = "";
  while (!text.endsWith("\n:\n\n:\n\n")) text += Buffer.from((await reader?.read())?.value ?? []).toString();
  expect(text).toMatch(/^event: state\ndata: \{.*\}\n\n(?::\n\n)+$/);
});

test("a caller that never reads costs one page of its log, and is disconnected", async () => {
  let asked = 0;
  const { scene, send } = await open({
    streamTimes: { ...STREAM_TIMES, unreadMs: 2_000 },
    arrange: (store) => {
      const { readLog } = store;
      Object.assign(store, {
        readLog: (...given: Parameters<typeof readLog>) => {
          asked += 1;
          return readLog(...given);
        },
      });
    },
  });
  const id = await startOne(scene);
  const claim = await scene.claimOne();
  for (let line = 0; line < 100; line += 1)
    await scene.store.appendLog(claim, [createLine("x".repeat(1_000_000))]);
  const before = await countConnections(scene);
  await send(`/hosted/${id}/events`);
  await waitUntil(async () => (await countConnections(scene)) > before);
  await waitUntil(async () => (await countConnections(scene)) === before);
  expect(asked).toBeGreaterThan(0);
  expect(asked).toBeLessThan(60);
});

async function countConnections({ app }: ServiceApiScene): Promise<number> {
  return new Promise((resolve, reject) => {
    app.server.getConnections((error, count) => (error ? reject(error) : resolve(count)));
  });
}

test("no organisation has more streams than it may, no process more than it can serve, and an ended stream makes room", async () => {
  const { scene, follow, send } = await open({ room: createStreamRoom({ perOrganisation: 1, total: 1 }) });
  const id = await startOne(scene);
  const stream = await follow(`/hosted/${id}/events`);
  const refused = await send(`/hosted/${id}/events`);
  expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
  expect(await readProblem(refused)).toMatch(/^(?:429 RATE_LIMITED|503 UNAVAILABLE)$/);
  await scene.store.finish(await scene.claimOne(), SUCCESS);
  await waitUntil(() => stream.hasEnded);
  await waitUntil(async () => (await send(`/hosted/${id}/events`)).status === 200);
});

test("a server that stops ends its streams at once, read or not", async () => {
  const { scene, follow, send } = await open();
  const stream = await follow(`/hosted/${await startOne(scene)}/events`);
  const claim = await scene.claimOne();
  for (let line = 0; line < 40; line += 1)
    await scene.store.appendLog(claim, [createLine("x".repeat(1_000_000))]);
  await send(`/hosted/${claim.id}/events`);
  // One that is read has taken all that there is; only the other waits for its reader.
  await waitUntil(() => stream.seen.filter(({ event }) => event === "log").length === 40);
  closing = [];
  let isClosed = false;
  void scene.close().finally(() => {
    isClosed = true;
  });
  // An idle connection is kept for longer than this waits.
  await waitUntil(() => isClosed && stream.hasEnded);
  expect(describe(stream.seen).at(-1)).toBe("closed UNAVAILABLE");
});

test("streams of an execution cost one query for all, and find what no event has told", async () => {
  const { scene, follow } = await open();
  const id = await startOne(scene);
  const streams = await Promise.all(Array.from({ length: 20 }, () => follow(`/hosted/${id}/events`)));
  await waitUntil(() => streams.every(({ seen }) => seen.length === 1));
  let asked = 0;
  const { readChanges } = scene.store;
  Object.assign(scene.store, {
    readChanges: (...given: Parameters<typeof readChanges>) => {
      asked += 1;
      return readChanges(...given);
    },
  });
  const claim = await scene.claimOne();
  await scene.store.finish(claim, SUCCESS);
  await waitUntil(() => streams.every(({ hasEnded }) => hasEnded));
  expect(asked).toBeLessThan(20);
});

test("streams of an execution read each of its checkpoints once, and two of all at a time", async () => {
  const counts = { reads: 0, running: 0, most: 0 };
  const held = createDeferred<void>();
  const { scene, follow } = await open({
    arrange: (store) => {
      const { readCheckpoint } = store;
      Object.assign(store, {
        readCheckpoint: async (...given: Parameters<typeof readCheckpoint>) => {
          counts.reads += 1;
          counts.most = Math.max(counts.most, (counts.running += 1));
          await held.promise;
          return await readCheckpoint(...given).finally(() => {
            counts.running -= 1;
          });
        },
      });
    },
  });
  const claims = [];
  const streams: Awaited<ReturnType<typeof follow>>[] = [];
  for (let count = 0; count < 4; count++) {
    const id = await startOne(scene);
    claims.push(await scene.claimOne());
    streams.push(...(await Promise.all(Array.from({ length: 5 }, () => follow(`/hosted/${id}/events`)))));
  }
  await waitUntil(() => streams.every(({ seen }) => seen.length === 1));
  const checkpoint = Buffer.from('{"n":1}');
  for (const claim of claims) await scene.store.noteProgress(claim, { progress: null, checkpoint });
  await waitUntil(() => streams.every(({ seen }) => seen.at(-1)?.event === "progress") && counts.reads >= 2);
  held.resolve();
  await waitUntil(() => streams.every(({ seen }) => seen.at(-1)?.event === "partial"));
  expect(counts).toEqual({ reads: 4, running: 0, most: 2 });
});

test("a stream says how far the run is, each time that it reports", async () => {
  const { scene, follow } = await open();
  const stream = await follow(`/hosted/${await startOne(scene)}/events`);
  const claim = await scene.claimOne();
  await waitUntil(() => stream.seen.length === 2);
  for (const fraction of [0.5, 0.75]) {
    const progress = { fraction, message: "on" };
    const seen = stream.seen.length;
    await scene.store.noteProgress(claim, { progress, checkpoint: null });
    await waitUntil(() => stream.seen.length > seen);
    const { event, data } = stream.seen.at(-1) ?? { event: "", data: "{}" };
    expect([event, JSON.parse(data)]).toMatchObject(["progress", progress]);
  }
  await scene.store.finish(claim, SUCCESS);
  await waitUntil(() => stream.hasEnded);
  expect(describe(stream.seen)).toEqual([
    "state PENDING",
    "state RUNNING",
    "progress",
    "progress",
    "state SUCCEEDED",
    "end",
  ]);
});

test.each(["/hosted", "/jobs", ""])(
  "at %s a stream shows what the code reports, and what it keeps, up to 32 kB",
  async (prefix) => {
    const { scene, follow } = await open();
    const id = await startOne(scene);
    const claim = await scene.claimOne();
    const stream = await follow(`${prefix}/${id}/events`);
    const waitFor = (event: string, count: number) =>
      waitUntil(() => stream.seen.filter((seen) => seen.event === event).length === count);
    await waitFor("state", 1);
    await scene.store.noteProgress(claim, { progress: { fraction: 0.5, message: "half" }, checkpoint: null });
    await waitFor("progress", 1);
    await scene.store.noteProgress(claim, { progress: null, checkpoint: Buffer.from('{"n":1}') });
    await waitFor("partial", 1);
    const large = Buffer.from(`{"n":"${"x".repeat(40_000)}"}`);
    await scene.store.noteProgress(claim, { progress: null, checkpoint: large });
    await waitFor("partial", 2);
    await scene.store.finish(claim, { status: "FAILED", code: "OWN", detail: "." });
    await waitUntil(() => stream.hasEnded);
    const find = (event: string) =>
      stream.seen.flatMap((seen) => (seen.event === event ? [JSON.parse(seen.data) as unknown] : []));
    expect(find("progress")[0]).toEqual({ fraction: 0.5, message: "half", at: expect.any(String) });
    expect(find("partial")).toEqual([
      { at: expect.any(String), bytes: 7, result: { n: 1 } },
      { at: expect.any(String), bytes: 40_008 },
    ]);
    expect(find("state").at(-1)).toMatchObject({ status: "FAILED", progress: { fraction: 0.5 } });
  },
);
