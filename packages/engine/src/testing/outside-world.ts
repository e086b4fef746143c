import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";

/** A public address (TEST-NET-2), and two that versions must not reach: the metadata address of clouds, and a private one. */
export const OUTSIDE = "198.51.100.9";
export const OTHER_OUTSIDE = "198.51.100.10";
export const METADATA = "169.254.169.254";
export const PRIVATE = "10.99.0.9";
/** The host's end of the cable. */
export const HOST_SIDE = "198.51.100.1";
/** Where servers listen on each address of the outside. */
export const OUTSIDE_PORT = 8137;

const SERVER = `
import socket, sys
server = socket.create_server(("0.0.0.0", ${OUTSIDE_PORT}))
print("listening", flush=True)
while True:
    connection, _ = server.accept()
    connection.sendall(b"outside")
    connection.close()
`;

/** A namespace beside the host's network, which the host reaches by a cable of its own. Needs root. */
export interface OutsideWorld {
  readonly close: () => Promise<void>;
}

/** Lays the cable and starts a server behind it. */
export async function createOutsideWorld(): Promise<OutsideWorld> {
  const server = spawn("unshare", ["--net", "/usr/bin/python3", "-I", "-c", SERVER], {
    stdio: ["ignore", "pipe", "inherit"],
  });
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
    },
  };
}
