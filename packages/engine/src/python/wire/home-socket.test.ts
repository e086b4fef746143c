import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { connect } from "node:net";
import type { Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { FRAME, encodeFrame } from "./frames.ts";
import { openHomeSocket } from "./home-socket.ts";
import type { HomeSocket, Connections } from "./home-socket.ts";
import { createPaces } from "./pace.ts";
import { waitFor } from "../../testing/python-fixture.ts";

const TOKEN = "0123456789abcdef0123456789abcdef";

let directory: string;
let home: HomeSocket;
let sockets: Socket[];

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), "home-"));
  home = await openHomeSocket(join(directory, "home"), createPaces());
  sockets = [];
});
afterEach(() => {
  for (const socket of sockets) socket.destroy();
  home.close();
  rmSync(directory, { recursive: true });
});

async function dial(...chunks: Array<string | Buffer>): Promise<Socket> {
  const socket = connect(join(directory, "home"));
  sockets.push(socket);
  socket.on("error", () => undefined);
  socket.resume();
  await once(socket, "connect");
  for (const chunk of chunks) socket.write(chunk);
  return socket;
}

function hello(channel: string, token = TOKEN): Buffer {
  return encodeFrame(FRAME.hello, Buffer.from(channel + token));
}

async function expectRefused(socket: Socket): Promise<void> {
  if (!socket.closed) await once(socket, "close");
}

test("three connections with the token make a child, and what came early is not lost", async () => {
  const complete: Connections[] = [];
  home.expect(TOKEN, (connections) => complete.push(connections));
  const bytes = hello("o");
  const early = await dial(bytes.subarray(0, 7));
  early.write(bytes.subarray(7));
  early.write("early ");
  await dial(hello("e"));
  expect(complete).toEqual([]);
  await dial(hello("c"));
  await waitFor("all three are there", () => complete.length === 1);
  let received = "";
  complete[0]?.stdout.attach(
    (chunk) => {
      received += chunk.toString();
      return { cost: 1, rest: null };
    },
    () => (received += " end"),
  );
  early.end("late");
  await waitFor("the whole stream", () => received === "early late end");
});

test("a token is good for three connections, each channel once, and never again", async () => {
  const complete: Connections[] = [];
  home.expect(TOKEN, (connections) => complete.push(connections));
  await dial(hello("c"));
  await expectRefused(await dial(hello("c")));
  await dial(hello("o"));
  await dial(hello("e"));
  await waitFor("all three are there", () => complete.length === 1);
  for (const channel of ["c", "o", "e"]) await expectRefused(await dial(hello(channel)));
  expect(complete).toHaveLength(1);
});

test.each([
  ["an unknown token", hello("c", "f".repeat(32))],
  ["an unknown channel", hello("x")],
  ["another frame", encodeFrame(FRAME.result, Buffer.from(`c${TOKEN}`))],
  ["another length", encodeFrame(FRAME.hello, Buffer.from(`c${TOKEN}more`))],
  ["garbage", Buffer.alloc(1000, 255)],
])("a stranger with %s is turned away", async (_, bytes) => {
  home.expect(TOKEN, () => expect.unreachable());
  await expectRefused(await dial(bytes));
});

test("a token that is forgotten closes what had come for it", async () => {
  home.expect(TOKEN, () => expect.unreachable());
  const first = await dial(hello("o"));
  await dial(hello("e"));
  home.forget(TOKEN);
  await expectRefused(await dial(hello("c")));
  await expectRefused(first);
});

test("silent strangers cannot use up the connections of others without end", async () => {
  const silent = await Promise.all(Array.from({ length: 100 }, () => dial()));
  await waitFor(
    "those above the limit are closed",
    () => silent.filter((socket) => socket.closed).length === 36,
  );
  expect(silent.filter((socket) => socket.closed)).toHaveLength(36);
});
