/**
 * A bare node:http server that streams bodies to files of a folder, and back: what uploads and downloads are compared with.
 *   node bench/file-server.ts FOLDER
 */
import { createReadStream, createWriteStream } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { argv, stdout } from "node:process";
import { pipeline } from "node:stream/promises";

const folder = argv[2] ?? ".";
const server = createServer((request, response) => {
  const path = join(folder, "content");
  if (request.method === "GET") void pipeline(createReadStream(path), response).catch(() => undefined);
  // On the disk when it is answered, as with the platform.
  else
    pipeline(request, createWriteStream(path, { flush: true })).then(
      () => response.writeHead(201).end(),
      () => response.destroy(),
    );
}).listen(0, "127.0.0.1", () => stdout.write(`${(server.address() as AddressInfo).port}\n`));
