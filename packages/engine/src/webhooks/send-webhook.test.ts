import { once } from "node:events";
import { createServer } from "node:http";
import type { RequestListener } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { createServer as createTcpServer } from "node:net";
import type { AddressInfo, Server, Socket } from "node:net";
import { afterEach, expect, test } from "vitest";
import { parseWebhookUrl } from "@platform/contract/webhook-url";
import { TEST_AUTHORITY, TEST_CERTIFICATES, TEST_KEY } from "../testing/tls-certificates.ts";
import { createAddressPolicy } from "./outside-addresses.ts";
import { sendWebhook } from "./send-webhook.ts";
import type { WebhookSender } from "./send-webhook.ts";

const LONG_MS = 60_000;
const OPENED: WebhookSender = { isAllowed: createAddressPolicy(["127.0.0.0/8"]), timeoutMs: LONG_MS };
const BODY = '{"city":"Köln"}';

const open = new Set<Server>();
const sockets = new Set<Socket>();
afterEach(async () => {
  for (const socket of sockets) socket.destroy();
  for (const server of open) await new Promise((resolve) => server.close(resolve));
  open.clear();
  sockets.clear();
});

async function listen(server: Server): Promise<number> {
  open.add(server);
  server.on("connection", (socket) => sockets.add(socket.on("error", () => undefined)));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return (server.address() as AddressInfo).port;
}

const serve = (listener: RequestListener) => listen(createServer(listener));
/** Answers each connection itself. */
const serveRaw = (answer: (socket: Socket) => void) => listen(createTcpServer(answer));

const RESOLVED = async () => ["10.0.0.1", "127.0.0.2"];
/** No private address is open, and every name resolves to this one. */
const closed = (address: string): WebhookSender => ({
  ...OPENED,
  isAllowed: createAddressPolicy([]),
  resolve: async () => [address],
});

const send = (url: string, sender: WebhookSender = OPENED, signal = new AbortController().signal) =>
  sendWebhook({ url, headers: { "webhook-id": "msg_1" }, body: BODY }, sender, signal);

test("a message is posted with its headers, and the answer's status comes back", async () => {
  const seen: unknown[] = [];
  const port = await serve((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.once("end", () => {
      seen.push(request.method, request.url, request.headers, Buffer.concat(chunks).toString());
      response.writeHead(204).end();
    });
  });
  expect(await send(`http://127.0.0.1:${port}/hook?a=1`)).toEqual({
    status: 204,
    failure: null,
    durationMs: expect.any(Number),
  });
  expect(seen).toMatchObject([
    "POST",
    "/hook?a=1",
    { "webhook-id": "msg_1", "content-type": "application/json", "content-length": "16" },
    BODY,
  ]);
});

test("a redirect is an answer, and is not followed", async () => {
  let calls = 0;
  const port = await serve((_request, response) => {
    calls++;
    response.writeHead(307, { location: "/again" }).end();
  });
  expect(await send(`http://127.0.0.1:${port}/`)).toMatchObject({ status: 307, failure: null });
  expect(calls).toBe(1);
});

test("no address of this machine or of a private network is called, whatever the name resolves to", async () => {
  let calls = 0;
  const port = await serveRaw(() => calls++);
  const hosts = [
    "127.0.0.1",
    "[::1]",
    "[::ffff:127.0.0.1]",
    "2130706433",
    "0x7f.1",
    "localhost",
    "a.localhost",
  ];
  for (const host of hosts)
    expect(await send(`http://${host}:${port}/`, { ...closed("127.0.0.1") })).toMatchObject({
      status: null,
      failure: expect.stringContaining("--webhook-open"),
    });
  for (const address of ["127.0.0.1", "169.254.169.254", "::ffff:127.0.0.1", "::1"])
    expect((await send(`http://name.example:${port}/`, closed(address))).failure).toContain("--webhook-open");
  expect(calls).toBe(0);
});

test("of several addresses of a name only those that may be called are", async () => {
  const port = await serve((_request, response) => response.end());
  const sender = { ...OPENED, isAllowed: createAddressPolicy(["127.0.0.2"]), resolve: RESOLVED };
  const there = await listen(createServer((_request, response) => response.end()));
  expect(there).not.toBe(port);
  // Nothing listens there: it was the one that was called.
  expect((await send(`http://name.example:${port}/`, sender)).failure).toBe(
    "The host refused the connection.",
  );
});

test("a name is looked up anew for each call", async () => {
  const port = await serve((_request, response) => response.end());
  const answers = [["127.0.0.1"], ["10.0.0.1"]];
  const sender = { ...OPENED, resolve: async () => answers.shift() ?? [] };
  const results = [
    await send(`http://name.example:${port}/`, sender),
    await send(`http://name.example:${port}/`, sender),
  ];
  expect(results.map(({ status }) => status)).toEqual([200, null]);
});

test("an answer without end is cut off, and its status counts", async () => {
  const closed: Promise<unknown>[] = [];
  const port = await serve((_request, response) => {
    closed.push(once(response, "close"));
    response.writeHead(200);
    const write = () => {
      while (!response.destroyed && response.write("x".repeat(65_536)));
      if (!response.destroyed) response.once("drain", write);
    };
    write();
  });
  expect(await send(`http://127.0.0.1:${port}/`)).toMatchObject({ status: 200, failure: null });
  await Promise.all(closed);
});

test.each<[string, (socket: Socket) => void]>([
  ["accepts and is silent", () => undefined],
  [
    "sends its head a byte at a time",
    (socket) => {
      const timer = setInterval(() => socket.write("H"), 20);
      socket.once("close", () => clearInterval(timer));
      socket.write("HTTP/1.1 200 OK\r\nx: ");
    },
  ],
  [
    "sends its body a byte at a time",
    (socket) => {
      socket.write("HTTP/1.1 200 OK\r\ncontent-length: 60000\r\n\r\n");
      const timer = setInterval(() => socket.write("x"), 20);
      socket.once("close", () => clearInterval(timer));
    },
  ],
])("a receiver that %s is given up when its time is over", async (_what, answer) => {
  const ended: Promise<unknown>[] = [];
  const port = await serveRaw((socket) => {
    ended.push(new Promise((resolve) => socket.once("close", resolve)));
    socket.resume();
    answer(socket);
  });
  const result = await send(`http://127.0.0.1:${port}/`, { ...OPENED, timeoutMs: 300 });
  expect(result).toMatchObject({ status: null, failure: "There was no complete answer within 0.3 s." });
  await Promise.all(ended);
});

test.each<[string, (socket: Socket) => void, string]>([
  ["hangs up", (socket) => socket.destroy(), "The host ended the connection without an answer."],
  ["speaks no HTTP", (socket) => socket.end("SSH-2.0-x\r\n"), "The answer is not one of HTTP."],
  [
    "changes to another protocol",
    (socket) => socket.write("HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n"),
    "There was no final answer.",
  ],
  [
    "sends interim answers without end",
    (socket) => {
      const write = () => {
        while (!socket.destroyed && socket.write("HTTP/1.1 103 Early Hints\r\n\r\n".repeat(1_000)));
        if (!socket.destroyed) socket.once("drain", write);
      };
      write();
    },
    "There was no final answer.",
  ],
  [
    "sends a large head",
    (socket) => socket.write(`HTTP/1.1 200 OK\r\nx: ${"y".repeat(100_000)}\r\n\r\n`),
    "The headers of the answer are too large.",
  ],
])("a receiver that %s is told so", async (_what, answer, failure) => {
  const port = await serveRaw((socket) => socket.once("data", () => answer(socket)));
  expect(await send(`http://127.0.0.1:${port}/`)).toMatchObject({ status: null, failure });
});

test("what cannot be reached, resolved or trusted is told", async () => {
  const port = await serve((_request, response) => response.end());
  expect((await send(`https://127.0.0.1:${port}/`)).failure).toBe(
    "No connection by TLS could be made with the host.",
  );
  const unknown = Object.assign(new Error("no"), { code: "ENOTFOUND" });
  const sender = { ...OPENED, resolve: () => Promise.reject(unknown) };
  expect((await send("http://name.example/", sender)).failure).toBe(
    "The name of the host could not be resolved.",
  );
});

test.each<[string, keyof typeof TEST_CERTIFICATES, string[], string | null]>([
  ["is of the host, by an authority that is known,", "valid", [TEST_AUTHORITY], null],
  [
    "is of an authority that is not known",
    "valid",
    [],
    "The certificate of the host is of an authority that is not trusted.",
  ],
  ["has expired", "expired", [TEST_AUTHORITY], "The certificate of the host has expired."],
  ["is of another host", "ofAnother", [TEST_AUTHORITY], "The certificate is not one of this host."],
  ["is self-signed", "selfSigned", [TEST_AUTHORITY], "The certificate of the host is self-signed."],
])(
  "a receiver whose certificate %s gets the message only if it can be trusted",
  async (_what, certificate, ca, failure) => {
    const bodies: string[] = [];
    const server = createTlsServer(
      { key: TEST_KEY, cert: TEST_CERTIFICATES[certificate] },
      (request, response) => {
        request.on("data", (chunk: Buffer) => bodies.push(chunk.toString()));
        request.once("end", () => response.end());
      },
    );
    const port = await listen(server);
    const sender = { ...OPENED, ca, resolve: async () => ["127.0.0.1"] };
    const answer = await send(`https://receiver.example:${port}/`, sender);
    expect(answer).toMatchObject({ status: failure === null ? 200 : null, failure });
    expect(bodies).toEqual(failure === null ? [BODY] : []);
  },
);

test("a stop ends a call at once", async () => {
  const stop = new AbortController();
  const port = await serveRaw(() => stop.abort());
  expect((await send(`http://127.0.0.1:${port}/`, OPENED, stop.signal)).failure).toMatch(
    /^The platform stopped/,
  );
});

test.each([
  "",
  "x",
  "ftp://example.org/",
  "file:///etc/passwd",
  "http://",
  "https://u:p@example.org/",
  "https://example.org/#a",
  "javascript:1",
])("'%s' is no URL of a webhook", (url) => expect(parseWebhookUrl(url)).toBeNull());
