/** A server that answers as a test tells it, and notes what it was asked. */
import { createServer } from "node:http";
import { Client } from "../core/index.js";

export const ID = "0198a9a4-0000-7000-8000-000000000001";
const servers = [];

/** Ends the servers of a test. */
export function closeServers() {
  for (const server of servers.splice(0)) {
    server.close();
    server.closeAllConnections();
  }
}

/** Takes the answers in their order, the last one again and again; `0` cuts the connection. Tokens are answered apart, as `seen.token` says. */
export async function serve(answers, { lifetime = 3600, token } = {}) {
  const asked = [];
  const seen = { asked, tokens: 0, token };
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request) body += chunk;
    if (request.url === "/token") {
      seen.tokens += 1;
      if (seen.token === 0) return request.socket.destroy();
      if (seen.token !== undefined) return response.end(seen.token);
      return response.end(JSON.stringify({ access_token: `token-${seen.tokens}`, expires_in: lifetime }));
    }
    asked.push({ method: request.method, path: request.url, headers: request.headers, body });
    const answer = answers.length > 1 ? answers.shift() : answers[0];
    if (answer === 0) return request.socket.destroy();
    const { status = 200, headers = {}, ...rest } = answer;
    if (rest.drops !== undefined) return drip(response, rest.drops);
    return response.writeHead(status, headers).end(rest.text ?? JSON.stringify(rest.body));
  });
  servers.push(server);
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const endpoint = `http://127.0.0.1:${server.address().port}/key/name/1.0.0/`;
  return { seen, asked, client: new Client({ endpoint, keyId: "key", secret: "secret" }) };
}

/** Bytes with pauses between them, and then nothing: the answer is one byte longer where it `stalls`. */
async function drip(response, { count, pauseMs, stalls }) {
  response.writeHead(200, { "content-length": count + (stalls ? 1 : 0) });
  for (let at = 0; at < count; at += 1) {
    response.write("x");
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
  if (!stalls) response.end();
}

/** A state of an execution. */
export const describe = (status, more = {}) => ({
  id: ID,
  status,
  terminal: ["SUCCEEDED", "FAILED", "UNKNOWN"].includes(status),
  createdAt: "x",
  ...more,
});
/** The result of one that has ended. */
export const end = (status, more = {}) => ({
  ...more,
  _links: { self: {}, status: {}, "a.txt": {} },
  _embedded: { status: describe(status) },
});
export const RUNNING = { body: describe("RUNNING") };
export const PENDING = { status: 201, body: describe("PENDING") };

/** Milliseconds that something takes. */
export async function measure(work) {
  const began = performance.now();
  await work();
  return performance.now() - began;
}
