import { readdir } from "node:fs/promises";
import { request } from "node:http";
import { connect } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { beforeEach, describe, expect, test } from "vitest";
import { PART_TYPE } from "../../../../tools/tus-calls.ts";
import { createTestMember } from "../testing/fixtures.ts";
import { MAX_TEST_FILE } from "../testing/instance.ts";
import { useUploads } from "../testing/upload-scene.ts";

const pace = { bytesPerSecond: MAX_TEST_FILE, behindMs: 60_000 };

const { state, auth, beginUpload, sendPart, waitForWriter, listFiles } = useUploads({
  uploadLimits: { perOrganisation: 1, inAll: 1 },
  uploadPace: pace,
});

beforeEach(() => {
  pace.behindMs = 60_000;
});

/** What is received in one request lies here until it is an object. */
const listIncoming = () => readdir(join(state.directory, "objects", "incoming")).catch(() => []);

/** A request with a body that does not end. */
function open(method: string, path: string, headers: Readonly<Record<string, string>>) {
  const sent = request(`${state.urls.here}/api${path}`, {
    method,
    agent: false,
    headers: { ...auth(), "content-type": "application/json", ...headers },
  });
  const answer = new Promise<{ readonly status: number | undefined; readonly body: string }>(
    (resolve, reject) => {
      sent.on("error", reject).once("response", (response) => {
        text(response).then((body) => resolve({ status: response.statusCode, body }), reject);
      });
    },
  );
  answer.catch(() => undefined);
  return { sent, answer };
}

const openFile = (name: string, headers: Readonly<Record<string, string>> = {}) =>
  open("PUT", `/data-pools/${state.pool.id}/files/${name}`, headers);

async function expectFreed(): Promise<void> {
  expect(await listIncoming()).toEqual([]);
  const next = openFile("next.json");
  next.sent.end("{}");
  expect((await next.answer).status).toBe(201);
}

describe("a body that comes too slowly gives its place to the next one:", () => {
  test("a file in one request", async () => {
    pace.behindMs = 500;
    const { sent, answer } = openFile("slow.json");
    const trickle = setInterval(() => sent.write(" "), 50);
    const { status, body } = await answer;
    clearInterval(trickle);
    expect([status, JSON.parse(body)]).toEqual([
      503,
      expect.objectContaining({ code: "UNAVAILABLE", detail: expect.stringContaining("more slowly") }),
    ]);
    pace.behindMs = 60_000;
    await expectFreed();
    sent.destroy();
  });

  test("an archive", async () => {
    const { organisationId } = state.owner;
    const { key } = await state.here.stores.services.create({
      organisationId,
      name: "demo",
      description: "",
    });
    pace.behindMs = 500;
    const { sent, answer } = open("POST", `/services/${key}/versions`, { "content-type": "application/zip" });
    sent.write("PK");
    const { status, body } = await answer;
    expect([status, JSON.parse(body)]).toEqual([503, expect.objectContaining({ code: "UNAVAILABLE" })]);
    pace.behindMs = 60_000;
    await expectFreed();
    sent.destroy();
  });
});

test("a file of who may not store it any more when all of it has come is not stored", async () => {
  const { organisationId, userId } = state.owner;
  const by = await createTestMember(state.here, organisationId, "owner");
  const { sent, answer } = openFile("late.json", auth(by));
  sent.write("{");
  await expect.poll(listIncoming).toHaveLength(1);
  await state.here.identity.changeRole({ organisationId, userId: by.userId, by: userId, role: "viewer" });
  sent.end("}");
  const { status, body } = await answer;
  expect([status, JSON.parse(body)]).toEqual([403, expect.objectContaining({ code: "FORBIDDEN" })]);
  expect([await listFiles(), await listIncoming()]).toEqual([[], []]);
});

describe("who sends all before it reads the answer is answered, and can go on with the connection, where the part", () => {
  test("was taken over while more of it was waited for", async () => {
    const path = await beginUpload({ length: MAX_TEST_FILE });
    const part = openRaw(path);
    part.send("{");
    await waitForWriter(path);
    expect((await sendPart(path, 0, "{")).status).toBe(204);
    await expect.poll(part.listStatus).toEqual(["423"]);
    await part.goOn();
    await expect.poll(part.listStatus).toEqual(["423", "204"]);
    part.close();
  });

  test("is longer than what is missing", async () => {
    const part = openRaw(await beginUpload());
    part.send("x".repeat(11));
    await expect.poll(part.listStatus).toEqual(["413"]);
    await part.goOn();
    await expect.poll(part.listStatus).toEqual(["413", "204"]);
    part.close();
  });
});

/** A client of Node.js would see the answer at once, and give up. */
function openRaw(path: string) {
  const { hostname, port } = new URL(state.urls.here);
  const socket = connect(Number(port), hostname);
  let answers = "";
  socket.setEncoding("utf8").on("data", (text: string) => (answers += text));
  const write = (content: string | Buffer) =>
    new Promise<void>((resolve, reject) => {
      socket.write(content, (error) => (error ? reject(error) : resolve()));
    });
  const headers = {
    ...auth(),
    "tus-resumable": "1.0.0",
    "upload-offset": "0",
    "content-type": PART_TYPE,
    "transfer-encoding": "chunked",
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  void write(`PATCH ${path} HTTP/1.1\r\nhost: platform\r\n${lines.join("")}\r\n`);
  const send = (chunk: string) => write(`${chunk.length.toString(16)}\r\n${chunk}\r\n`);
  return {
    send: (chunk: string) => void send(chunk),
    listStatus: () => [...answers.matchAll(/HTTP\/1\.1 (\d+)/gu)].map(([, status]) => status),
    /** Sends more than the buffers of a connection, ends the part, and asks something else. */
    goOn: async () => {
      for (let megabytes = 0; megabytes < 32; megabytes += 1) await send("x".repeat(1024 * 1024));
      await write("0\r\n\r\nOPTIONS /api/uploads HTTP/1.1\r\nhost: platform\r\n\r\n");
    },
    close: () => socket.destroy(),
  };
}
