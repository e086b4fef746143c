import { connect, createServer } from "node:net";
import type { AddressInfo, Socket } from "node:net";
import { waitUntil } from "@platform/engine/testing/wait-until";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { createTestDatabase } from "../testing/test-database.ts";
import type { TestDatabase } from "../testing/test-database.ts";
import { createDatabase } from "./database.ts";
import type { SocketConnection } from "./server.ts";

let home: TestDatabase;

beforeAll(async () => {
  home = await createTestDatabase({ isEmpty: true });
});

afterAll(() => home.close());

/** A way to the test server on which it refuses the first LISTEN on a channel, since that arrives misspelt; the connection stays whole. */
async function openMisspelling(channel: string): Promise<SocketConnection> {
  const sockets = new Set<Socket>();
  const own = (socket: Socket): Socket => {
    sockets.add(socket);
    return socket.on("error", () => undefined);
  };
  let isMisspelt = false;
  const server = createServer((socket) => {
    const upstream = own(connect(`${home.target.host}/.s.PGSQL.${home.target.port}`));
    upstream.pipe(own(socket)).on("close", () => upstream.destroy());
    socket.on("data", (chunk: Buffer) => {
      const at = isMisspelt ? -1 : chunk.indexOf(`listen "${channel}"`);
      if (at >= 0) {
        isMisspelt = true;
        chunk.write("listem", at);
      }
      upstream.write(chunk);
    });
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return { ...home.target, host: "127.0.0.1", port: (server.address() as AddressInfo).port };
}

test("where PostgreSQL refuses to listen on one more channel, the connection is made anew and that channel is heard as well", async () => {
  const database = createDatabase(await openMisspelling("late"), { logger: home.logger });
  onTestFinished(() => database.close());
  let resets = 0;
  // Who wants to know of silence has the connection looked at several times a second.
  database.listen("early", {
    onNotify: () => undefined,
    onReset: () => void resets++,
    onSilence: () => undefined,
  });
  await waitUntil(() => resets === 1);
  const heard: string[] = [];
  database.listen("late", { onNotify: (payload) => heard.push(payload), onReset: () => undefined });
  // Once when it was given up and once when it is whole again.
  await waitUntil(() => resets >= 3);
  await home.database.query({ text: "select pg_notify('late', 'one')" });
  await waitUntil(() => heard.length > 0);
  expect(heard).toEqual(["one"]);
});
