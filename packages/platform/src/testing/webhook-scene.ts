import { once } from "node:events";
import { createServer } from "node:http";
import type { IncomingHttpHeaders, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Webhook } from "standardwebhooks";
import { onTestFinished } from "vitest";
import {
  createExecutionDatabase,
  createPostgresExecutionStore,
} from "../store/executions/execution-store.ts";
import { fanOut } from "../store/webhooks/fan-out.ts";
import { createDeliverer } from "../webhooks/deliverer.ts";
import type { Deliverer } from "../webhooks/deliverer.ts";
import { describeChange } from "@platform/engine/webhooks/message";
import { createAddressPolicy } from "@platform/engine/webhooks/outside-addresses";
import { createWebhooks } from "../webhooks/webhooks.ts";
import { TEST_SECRET, createTestInstance } from "./instance.ts";
import { createTestDatabase } from "./test-database.ts";

/** A message that came to the receiver. */
export interface ReceivedMessage {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** A platform on a database of its own, and a receiver of webhooks. Closed by `close`. */
export async function createWebhookScene() {
  const home = await createTestDatabase();
  const store = createPostgresExecutionStore({ database: createExecutionDatabase(home.target, home) });
  const instance = await createTestInstance({ database: home.connect(), executionStore: store });
  const receiver = await createReceiver();
  const sealed = createWebhooks(instance.stores.webhooks, TEST_SECRET);
  return {
    home,
    instance,
    store,
    sealed,
    ...receiver,
    run: (text: string, ...values: readonly unknown[]) =>
      home.database.query<Record<string, unknown>>({ text, values }),
    /** A process that delivers, until the test is over. */
    start: (): Deliverer => {
      const deliverer = createDeliverer({
        fanOut: () => fanOut(home.database, describeChange),
        deliveries: instance.stores.deliveries,
        webhooks: sealed,
        sender: { isAllowed: createAddressPolicy(["127.0.0.0/8"]), timeoutMs: 600_000 },
        logger: home.logger,
      });
      onTestFinished(() => deliverer.close());
      return deliverer;
    },
    close: async () => {
      receiver.close();
      await instance.close();
      await home.close();
    },
  };
}

/** Listens on loopback. `answers`: how it answers at a path; with 204 where none is set. */
async function createReceiver() {
  const received: ReceivedMessage[] = [];
  const answers = new Map<string, (response: ServerResponse) => void>();
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    const path = request.url ?? "";
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.once("end", () => {
      received.push({ path, headers: request.headers, body: Buffer.concat(chunks).toString() });
      const answer = answers.get(path);
      if (answer === undefined) response.writeHead(204).end();
      else answer(response);
    });
  });
  server.listen(0);
  await once(server, "listening");
  return {
    /** Of loopback, as all of 127.0.0.0/8. */
    port: (server.address() as AddressInfo).port,
    received,
    answers,
    /** What came to a path. */
    at: (path: string) => received.filter((one) => one.path === path),
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** What the message says. @throws Error where another secret has signed it */
export function verifyMessage(secret: string, { body, headers }: ReceivedMessage): unknown {
  return new Webhook(secret).verify(body, headers as Record<string, string>);
}
