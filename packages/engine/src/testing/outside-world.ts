import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import type { Server } from "node:net";
import { setTimeout as delay } from "node:timers/promises";

/** Public addresses (of AS112, whose servers take questions that nobody should ask, RFC 7535), and two that versions must not reach: the metadata address of clouds, and a private one. */
export const OUTSIDE = "192.31.196.9";
export const OTHER_OUTSIDE = "192.31.196.10";
export const METADATA = "169.254.169.254";
export const PRIVATE = "10.99.0.9";
/** The host's end of the cable. */
export const HOST_SIDE = "192.31.196.1";
/** Where servers listen on each address of the outside. */
export const OUTSIDE_PORT = 8137;
/** The same, but these read and write nothing, and close no connection. */
export const SILENT_PORT = 8138;

/** Serves TCP, and DNS from a file of JSON that is read for each question: addresses by name, or nothing for a name that fails. */
const SERVER = `
import json, socket, struct, sys, threading

def answer(query):
    end = query.index(0, 12)
    labels, at = [], 12
    while at < end:
        labels.append(query[at + 1 : at + 1 + query[at]].decode())
        at += 1 + query[at]
    kind = struct.unpack_from("!H", query, end + 1)[0]
    with open(sys.argv[1]) as file:
        known = json.load(file)
    name = ".".join(labels).lower()
    addresses = known.get(name, []) if kind == 1 else []
    code = 3 if name not in known else 2 if addresses is None else 0
    records = b"".join(bytes([0xC0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4]) + socket.inet_aton(one) for one in addresses or [])
    flags = struct.pack("!BBHHHH", 0x81, 0x80 | code, 1, len(addresses or []), 0, 0)
    return query[:2] + flags + query[12 : end + 5] + records

def resolve():
    while True:
        query, client = names.recvfrom(4096)
        names.sendto(answer(query), client)

names = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
names.bind(("0.0.0.0", 53))
threading.Thread(target=resolve, daemon=True).start()

def hold():
    silent = socket.create_server(("0.0.0.0", ${SILENT_PORT}), backlog=4096)
    kept = []
    while True:
        kept.append(silent.accept()[0])

threading.Thread(target=hold, daemon=True).start()
server = socket.create_server(("0.0.0.0", ${OUTSIDE_PORT}))
print("listening", flush=True)
while True:
    connection, _ = server.accept()
    connection.sendall(b"outside")
    connection.close()
`;

/** Ends the server with its test, however that ends: with the cable of one that is left no other can be laid. */
const WITH_ITS_TEST = `
import os, sys, threading
threading.Thread(target=lambda: (sys.stdin.read(), os._exit(0)), daemon=True).start()
`;

/** A namespace beside the host's network, which the host reaches by a cable of its own. Needs root. */
export interface OutsideWorld {
  readonly close: () => Promise<void>;
}

/** Its addresses are there once: of several test files, one at a time has them. The kernel ends it with the process. */
async function takeTurn(): Promise<Server> {
  for (;;) {
    const turn = createServer().listen("\0platform-outside-world").unref();
    const isOurs = await once(turn, "listening").then(
      () => true,
      () => false,
    );
    if (isOurs) return turn;
    await delay(20);
  }
}

/**
 * Lays the cable and starts a server behind it.
 *
 * @param names the file of the names that it resolves, for those who ask it
 * @param program another server: of Python, which prints a line once it listens
 */
export async function createOutsideWorld(names = "/dev/null", program = SERVER): Promise<OutsideWorld> {
  const turn = await takeTurn();
  const server = spawn(
    "unshare",
    ["--net", "/usr/bin/python3", "-I", "-c", `${WITH_ITS_TEST}${program}`, names],
    {
      stdio: ["pipe", "pipe", "inherit"],
    },
  );
  await once(server.stdout, "data");
  const [near, far] = [`pw${server.pid}a`, `pw${server.pid}b`];
  const inside = ["--net", `--target=${server.pid}`, "ip"];
  execFileSync("ip", ["link", "add", near, "type", "veth", "peer", "name", far, "netns", String(server.pid)]);
  for (const address of [`${OUTSIDE}/24`, `${OTHER_OUTSIDE}/24`, `${METADATA}/32`, `${PRIVATE}/32`])
    execFileSync("nsenter", [...inside, "address", "add", address, "dev", far]);
  execFileSync("nsenter", [...inside, "link", "set", far, "up"]);
  execFileSync("ip", ["address", "add", `${HOST_SIDE}/24`, "dev", near]);
  execFileSync("ip", ["link", "set", near, "up"]);
  for (const address of [METADATA, PRIVATE])
    execFileSync("ip", ["route", "replace", `${address}/32`, "dev", near]);
  return {
    close: async () => {
      execFileSync("ip", ["link", "delete", near]);
      server.kill("SIGKILL");
      if (server.exitCode === null && server.signalCode === null) await once(server, "exit");
      turn.close();
    },
  };
}
