import { once } from "node:events";
import { createServer } from "node:http";
import type { Server, ServerResponse } from "node:http";
import { connect, createServer as createSocketServer } from "node:net";
import type { AddressInfo, Server as SocketServer, Socket } from "node:net";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import type { DoorGuest } from "../base/door.ts";
import { createQuantumRelay } from "./quantum-relay.ts";
import { createGuestBook, createPace } from "./relay-guests.ts";

/** Stands for the platform API: answers when the test says so. */
let api: Server;
let door: SocketServer;
let asked: ServerResponse[] = [];
let guests: DoorGuest[] = [];
let callers: Socket[] = [];

beforeAll(async () => {
  api = createServer((request, response) => {
    request.resume();
    asked.push(response);
  }).listen(0, "127.0.0.1");
  await once(api, "listening");
  const target = `http://127.0.0.1:${(api.address() as AddressInfo).port}`;
  const attend = createQuantumRelay({ target: () => target, logger: { warn: () => undefined } })();
  door = createSocketServer((connection) => void guests.push(attend(connection))).listen(0, "127.0.0.1");
  await once(door, "listening");
});
afterAll(() => {
  api.closeAllConnections();
  api.close();
  door.close();
});
afterEach(async () => {
  for (const caller of callers) caller.destroy();
  for (const response of asked) response.end();
  [asked, guests, callers] = [[], [], []];
});

/** Sends it over a connection of its own; what comes back is in `said`. */
function send(bytes: string): { readonly caller: Socket; readonly said: () => string } {
  const caller = connect((door.address() as AddressInfo).port, "127.0.0.1");
  let text = "";
  caller.on("data", (data) => (text += data.toString())).on("error", () => undefined);
  caller.write(bytes);
  callers.push(caller);
  return { caller, said: () => text };
}

const ask = (token: string, head = "GET /quantum/jobs") =>
  send(`${head} HTTP/1.1\r\nHost: x\r\nX-Auth-Token: ${token}\r\n\r\n`);
const isAnswered = (response: ServerResponse) => response.end("{}");

test("a run that has 64 requests under way is refused more, and no other run is", async () => {
  for (let count = 0; count < 64; count += 1) ask("one");
  await expect.poll(() => asked.length).toBe(64);
  const more = ask("one");
  await expect.poll(more.said).toMatch(/^HTTP\/1.1 429 [^]*retry-after: 1/iu);
  ask("other");
  await expect.poll(() => asked.length).toBe(65);
  asked.slice(0, 1).forEach(isAnswered);
  await expect.poll(() => guests.filter((guest) => guest.isIdle()).length).toBeGreaterThan(0);
  ask("one");
  await expect.poll(() => asked.length).toBe(66);
});

test("a connection is idle until it asks, and once it is answered", async () => {
  const { said } = ask("one");
  send("GET /quan");
  await expect.poll(() => [guests.length, asked.length]).toEqual([2, 1]);
  expect(guests.map((guest) => guest.isIdle())).toEqual([false, true]);
  asked.forEach(isAnswered);
  await expect.poll(said).toContain("{}");
  await expect.poll(() => guests[0]?.isIdle()).toBe(true);
});

test("a body is not taken where no operation has one", async () => {
  const endless = ask("one", "GET /quantum/jobs HTTP/1.1\r\nTransfer-Encoding: chunked\r\nX: ");
  await expect.poll(endless.said).toMatch(/^HTTP\/1.1 400 /u);
  await expect.poll(() => endless.caller.closed).toBe(true);
  expect(asked).toEqual([]);
});

test("what is answered before it was sent to its end is not read to its end", async () => {
  const { caller, said } = send("POST /quantum/jobs HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n{");
  await expect.poll(() => asked.length).toBe(1);
  asked.forEach((response) => response.writeHead(401).end("{}"));
  await expect.poll(said).toMatch(/^HTTP\/1.1 401 [^]*connection: close/iu);
  await expect.poll(() => caller.closed).toBe(true);
});

test("requests without an end over one connection are not kept waiting for answers", async () => {
  const { caller } = send("GET /quantum/jobs HTTP/1.1\r\nHost: x\r\n\r\n".repeat(50));
  await expect.poll(() => caller.closed).toBe(true);
  expect(asked.length).toBeLessThan(50);
});

test("of a flood 400 requests are answered at once, and then one in five milliseconds", () => {
  let now = 0;
  const waitForTurn = createPace(() => now);
  const atOnce = Array.from({ length: 400 }, waitForTurn);
  expect(new Set(atOnce)).toEqual(new Set([0]));
  expect([waitForTurn(), waitForTurn()]).toEqual([5, 10]);
  now += 1_000;
  expect(Array.from({ length: 200 }, waitForTurn).filter((delay) => delay > 0).length).toBe(2);
});

test("a connection is closed where the head of a request does not come, at first or after another, and not while one is answered", async () => {
  const responses: ServerResponse[] = [];
  const book = createGuestBook(() => 0, 200);
  const server = createServer({ keepAliveTimeout: 0 }, (request, response) => {
    book.ask(request, response);
    responses.push(response);
  });
  server.on("connection", (connection: Socket) => void book.welcome(connection));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const open = (bytes: string) => {
    const caller = connect((server.address() as AddressInfo).port, "127.0.0.1");
    caller.on("error", () => undefined).resume();
    caller.write(bytes);
    callers.push(caller);
    return caller;
  };
  const [asks, silent, slow] = [open("GET / HTTP/1.1\r\nHost: x\r\n\r\n"), open(""), open("GET / HT")];
  await expect.poll(() => [silent.closed, slow.closed]).toEqual([true, true]);
  expect(asks.closed).toBe(false);
  for (const response of responses) response.end();
  await expect.poll(() => asks.closed).toBe(true);
  server.closeAllConnections();
  server.close();
});

test("a request begins when it is its turn, and not where its caller has gone", async () => {
  const begun: string[] = [];
  const book = createGuestBook(() => 1_000_000);
  const server = createServer((request, response) => {
    const turn = book.ask(request, response);
    if (typeof turn === "string") return;
    turn.begin(() => begun.push(String(request.url)));
    response.end();
  });
  server.on("connection", (connection: Socket) => void book.welcome(connection));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/late`);
  server.closeAllConnections();
  server.close();
  expect(begun).toEqual([]);
});
