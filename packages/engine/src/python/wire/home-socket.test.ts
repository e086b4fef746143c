import { once } from "node:events";
import { closeSync, mkdtempSync, openSync, rmSync } from "node:fs";
import { connect } from "node:net";
import type { Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { FRAME, encodeFrame, encodeHeader } from "./frames.ts";
import { openHomeSocket } from "./home-socket.ts";
import type { HomeSocket, Connections } from "./home-socket.ts";
import { createPaces } from "./pace.ts";
import { waitFor } from "../../testing/python-fixture.ts";

/** open(2): a descriptor of a socket's place, which Node.js has no name for. */
const O_PATH = 0o10000000;
const READY = encodeFrame(FRAME.ready);
const CALL = encodeFrame(FRAME.call, Buffer.from([0, 0, 0, 7]));
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

/** A child that is admitted as soon as it has called. */
function expectChild(token: string, onComplete: (connections: Connections) => void): void {
  home.expect(token, { onCall: () => home.admit(token, "untold"), onComplete });
}

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

async function sendStrangers(count: number): Promise<void> {
  for (let n = 0; n < count; n += 1) (await dial(n % 2 === 0 ? "" : hello("o"))).destroy();
}

test("three connections with the token and the word that it is ready make a child; what came early is not lost", async () => {
  const complete: Connections[] = [];
  expectChild(TOKEN, (connections) => complete.push(connections));
  const bytes = hello("o");
  const early = await dial(bytes.subarray(0, 7));
  early.write(bytes.subarray(7));
  early.write("early ");
  await dial(hello("e"));
  const control = await dial(hello("c"));
  await expectRefused(await dial(hello("c")));
  expect(complete).toEqual([]);
  control.write(Buffer.concat([CALL, READY]));
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

test("what a child says with the word that it is ready is passed on", async () => {
  const causes: string[] = [];
  home.expect(TOKEN, {
    onCall: () => home.admit(TOKEN, "untold"),
    onComplete: (_, cause) => causes.push(cause.toString()),
  });
  await dial(hello("o"));
  await dial(hello("e"));
  await dial(hello("c"), CALL, encodeFrame(FRAME.ready, Buffer.from("no licence")));
  await waitFor("all three are there", () => causes.length === 1);
  expect(causes).toEqual(["no licence"]);
});

test("a token is good for three connections, each channel once, and never again", async () => {
  const complete: Connections[] = [];
  expectChild(TOKEN, (connections) => complete.push(connections));
  await dial(hello("c"), CALL, READY);
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
  expectChild(TOKEN, () => expect.unreachable());
  await expectRefused(await dial(bytes));
});

test.each([
  ["does not begin with a call", [encodeFrame(FRAME.result, Buffer.alloc(4))]],
  ["says that it is ready before it has called", [READY, READY]],
  ["says something else after its call", [CALL, CALL]],
  ["gives too long a reason why it cannot import", [CALL, encodeHeader(FRAME.ready, 32 * 1024 + 1)]],
])("a control connection that %s is closed", async (_, chunks) => {
  expectChild(TOKEN, () => expect.unreachable());
  await dial(hello("o"));
  await dial(hello("e"));
  await expectRefused(await dial(hello("c"), ...chunks));
});

test.each(["before", "after"] as const)(
  "a child that is admitted %s it is ready counts from then on, and not before: its process is not limited",
  async (time) => {
    const complete: Connections[] = [];
    const calls: number[] = [];
    home.expect(TOKEN, { onCall: (number) => calls.push(number), onComplete: (all) => complete.push(all) });
    for (const channel of ["o", "e"]) await dial(hello(channel));
    const control = await dial(hello("c"), CALL);
    await waitFor("it has called", () => calls.length > 0);
    if (time === "before") home.admit(TOKEN, "untold");
    control.write(READY);
    await expectRefused(await dial(hello("c"))); // so what came before was read
    expect([complete.length, calls]).toEqual([time === "before" ? 1 : 0, [7]]);
    home.admit(TOKEN, "untold");
    expect(complete).toHaveLength(1);
  },
);

test("a child that waits for it is told that it is admitted, once", async () => {
  home.expect(TOKEN, { onCall: () => home.admit(TOKEN, "told"), onComplete: () => expect.unreachable() });
  const control = await dial(hello("c"));
  let told = "";
  control.on("data", (chunk: Buffer) => (told += chunk.toString("hex")));
  control.write(CALL);
  await waitFor("it is told", () => told !== "");
  home.admit(TOKEN, "told");
  const closed = once(control, "close");
  home.forget(TOKEN);
  await closed;
  expect(told).toBe(encodeFrame(FRAME.admit).toString("hex"));
});

test("a token that is forgotten closes what had come for it", async () => {
  expectChild(TOKEN, () => expect.unreachable());
  const control = await dial(hello("c"));
  const first = await dial(hello("o"));
  await expectRefused(await dial(hello("o")));
  home.forget(TOKEN);
  await expectRefused(await dial(hello("e")));
  await expectRefused(first);
  await expectRefused(control);
});

test("silent strangers keep nobody out: the oldest of them is closed", async () => {
  const silent: Socket[] = [];
  for (let n = 0; n < 100; n += 1) silent.push(await dial());
  const complete: Connections[] = [];
  expectChild(TOKEN, (connections) => complete.push(connections));
  for (const channel of ["o", "e"]) await dial(hello(channel));
  await dial(hello("c"), CALL, READY);
  await waitFor("a child is let in", () => complete.length === 1);
  await waitFor("the oldest are closed", () => silent.slice(0, 36).every((socket) => socket.closed));
  expect(silent.slice(39).some((socket) => socket.closed)).toBe(false);
});

test("a thousand strangers close the door for good; children that were expected do not count", async () => {
  const complete: Connections[] = [];
  for (let n = 0; n < 400; n += 1) {
    const token = n.toString(16).padStart(32, "0");
    expectChild(token, (connections) => complete.push(connections));
    for (const channel of ["o", "e"]) await dial(hello(channel, token));
    await dial(hello("c", token), CALL, READY);
  }
  await waitFor("all children are let in", () => complete.length === 400);
  await expect(sendStrangers(1100)).rejects.toThrow(/ECONNREFUSED|ENOENT/u);
});

test("once it is hidden, only who holds a descriptor of the socket can connect", async () => {
  const descriptor = openSync(join(directory, "home"), O_PATH);
  home.hide();
  await expect(dial()).rejects.toThrow("ENOENT");
  const complete: Connections[] = [];
  expectChild(TOKEN, (connections) => complete.push(connections));
  for (const channel of ["o", "e", "c"]) {
    const socket = connect(`/proc/self/fd/${descriptor}`);
    sockets.push(socket);
    socket.write(
      Buffer.concat([hello(channel), channel === "c" ? Buffer.concat([CALL, READY]) : Buffer.alloc(0)]),
    );
  }
  await waitFor("a child is let in", () => complete.length === 1);
  closeSync(descriptor);
});
