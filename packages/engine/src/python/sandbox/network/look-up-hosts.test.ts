import { createSocket } from "node:dgram";
import { once } from "node:events";
import { expect, test } from "vitest";
import { lookUpHosts } from "./look-up-hosts.ts";

/** A resolver that knows one name: every other does not exist. */
async function startResolver(name: string, address: readonly number[]) {
  const socket = createSocket("udp4");
  socket.on("message", (query, from) => {
    const isKnown = query.toString("latin1").includes(name);
    const answer = Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, ...address]);
    const question = query.subarray(12, query.indexOf(0, 12) + 5);
    const header = Buffer.from([0x81, isKnown ? 0x80 : 0x83, 0, 1, 0, isKnown ? 1 : 0, 0, 0, 0, 0]);
    const id = query.subarray(0, 2);
    socket.send(Buffer.concat([id, header, question, ...(isKnown ? [answer] : [])]), from.port, from.address);
  });
  socket.bind(0, "127.0.0.1");
  await once(socket, "listening");
  return socket;
}

test("names are looked up one by one; one that does not exist has no address, and says why", async () => {
  const resolver = await startResolver("api", [203, 0, 113, 5]);
  const servers = [`127.0.0.1:${resolver.address().port}`];
  const found = await lookUpHosts(["api.example.org", "absent.example.org"], servers);
  resolver.close();
  expect(found).toEqual([
    { name: "api.example.org", addresses: ["203.0.113.5"], code: null },
    { name: "absent.example.org", addresses: [], code: "ENOTFOUND" },
  ]);
});
