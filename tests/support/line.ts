import { once } from "node:events";
import { chmod, link, mkdtemp, readdir, rm } from "node:fs/promises";
import { createServer } from "node:net";
import type { Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** The statements, of a function, by which user code connects to the line as `line`; it reaches no address of the host. */
export const CONNECT = `line = socket.socket(socket.AF_UNIX)
    line.connect("line")`;

/** A connection between user code and the test. */
export interface Line {
  readonly close: () => Promise<void>;
}

/** Listens on a socket in the folder of each version, which is the working directory of `run`. */
export async function openLine(dataDirectory: string, onConnection: (socket: Socket) => void): Promise<Line> {
  // A socket's path is limited to 107 bytes; the link's is not.
  const folder = await mkdtemp(join(tmpdir(), "line-"));
  const address = join(folder, "line");
  const server = createServer((socket) => onConnection(socket.on("error", () => undefined)));
  server.listen(address);
  await once(server, "listening");
  await chmod(address, 0o777);
  const versions = join(dataDirectory, "versions");
  for (const version of await readdir(versions)) await link(address, join(versions, version, "line"));
  return {
    close: async () => {
      server.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
