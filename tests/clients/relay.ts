import { createServer, request } from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";

/** A request that was passed on, and how it was answered. */
export interface Passed {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage["headers"];
  readonly status: number;
  readonly answered: IncomingMessage["headers"];
  /** Of the clock that only goes forward, in milliseconds: when the request came. */
  readonly at: number;
  /** The caller got no answer. */
  readonly isCut: boolean;
}

/** A way to the gateway that notes what passes, and can lose an answer. */
export interface Relay {
  readonly url: string;
  /** In the order of their answers. */
  readonly passed: readonly Passed[];
  /** The next request of this method, but for tokens, is read and answered by the gateway; its answer is lost, and the connection with it. */
  readonly cutNext: (method: string) => void;
  readonly close: () => void;
}

/** `target`: origin of the gateway. */
export async function openRelay(target: string): Promise<Relay> {
  const passed: Passed[] = [];
  let cut: string | null = null;
  const answer = async (from: IncomingMessage, to: ServerResponse) => {
    const { method = "", url: path = "", headers } = from;
    const at = performance.now();
    const isCut = cut === method && path !== "/token";
    if (isCut) cut = null;
    const { answered, content } = await send(target, from);
    passed.push({
      method,
      path,
      headers,
      status: answered.statusCode ?? 0,
      answered: answered.headers,
      at,
      isCut,
    });
    if (isCut) from.socket.destroy();
    else to.writeHead(answered.statusCode ?? 502, answered.headers).end(content);
  };
  const server = createServer((from, to) => {
    // A client that went away, or a gateway that did.
    answer(from, to).catch(() => from.socket.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    passed,
    cutNext: (method) => {
      cut = method;
    },
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

async function send(target: string, from: IncomingMessage) {
  const body = await buffer(from);
  const answered = await new Promise<IncomingMessage>((resolve, reject) => {
    const { method, headers } = from;
    const url = new URL(from.url ?? "/", target);
    request(url, { method, headers: { ...headers, host: url.host } }, resolve)
      .on("error", reject)
      .end(body);
  });
  return { answered, content: await buffer(answered) };
}
