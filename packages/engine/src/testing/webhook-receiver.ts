import { once } from "node:events";
import { createServer } from "node:http";
import type { ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, beforeEach } from "vitest";

/** A message that came to a receiver. */
interface ReceivedMessage {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** A server that is told by webhooks. */
export interface WebhookReceiver {
  /** What has come, in order. */
  readonly received: ReceivedMessage[];
  /** How it answers; with 204 until a test says otherwise. */
  answer: (response: ServerResponse, path: string) => void;
  /** At an address of loopback. */
  readonly urlOf: (path: string, host?: string) => string;
}

const accept = (response: ServerResponse) => void response.writeHead(204).end();

/** Listens on all addresses of this machine from `open` to `close`. */
function createWebhookReceiver() {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    const path = request.url ?? "";
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.once("end", () => {
      const headers = request.headers as Record<string, string>;
      receiver.received.push({ path, headers, body: Buffer.concat(chunks).toString() });
      receiver.answer(response, path);
    });
  });
  const receiver: WebhookReceiver = {
    received: [],
    answer: accept,
    urlOf: (path, host = "127.0.0.1") => `http://${host}:${(server.address() as AddressInfo).port}${path}`,
  };
  return Object.assign(receiver, {
    open: async () => {
      server.listen(0);
      await once(server, "listening");
    },
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  });
}

/** Open while the tests of a file run; for each of them nothing has come yet. */
export function useWebhookReceiver(): WebhookReceiver {
  const receiver = createWebhookReceiver();
  beforeAll(receiver.open);
  beforeEach(() => {
    receiver.received.length = 0;
    receiver.answer = accept;
  });
  afterAll(receiver.close);
  return receiver;
}
