/** A bare node:http server that answers every request with the same bytes: what polling is compared with. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { argv, stdout } from "node:process";

const body = argv[2] ?? "{}";
const server = createServer((_request, response) => {
  response.writeHead(200, {
    "content-type": "application/json; charset=utf-8",
    "content-length": Buffer.byteLength(body),
  });
  response.end(body);
}).listen(0, "127.0.0.1", () => stdout.write(`${(server.address() as AddressInfo).port}\n`));
