import { request } from "node:http";
import type { IncomingMessage } from "node:http";
import { text } from "node:stream/consumers";

/** A request of a client of the campaign. */
export interface Sent {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** When the whole exchange is ended, however far it is. Milliseconds. */
  readonly withinMs: number;
  /** Ends it before. */
  readonly signal?: AbortSignal;
}

/** An answer, of which the body is still to be read. */
export type Received = IncomingMessage & { readonly statusCode: number };

/**
 * One exchange over a connection of its own, so that what became of it is known: a pool would share connections, and could repeat a request on
 * another one where a server was killed.
 *
 * @param read reads the answer; what it returns is the outcome
 * @throws Error with the code of the connection's failure, or `TOO_LATE`
 */
export async function exchange<T>(
  url: string,
  { method, headers, body, withinMs, signal }: Sent,
  read: (answer: Received) => Promise<T>,
): Promise<T> {
  const sent = request(url, { method, headers: { connection: "close", ...headers }, agent: false });
  const end = () => void sent.destroy(Object.assign(new Error("It took too long."), { code: "TOO_LATE" }));
  const timer = setTimeout(end, withinMs);
  signal?.addEventListener("abort", end, { once: true });
  try {
    let received: IncomingMessage | null = null as IncomingMessage | null;
    return await new Promise<T>((resolve, reject) => {
      sent.on("error", reject);
      // Also after the head of the answer has come: then only the answer says that it is cut off.
      sent.on("close", () => {
        if (received?.complete !== true)
          reject(Object.assign(new Error("The connection ended."), { code: "CLOSED" }));
      });
      sent.on("response", (answer: IncomingMessage) => {
        received = answer;
        answer.on("error", reject);
        read(answer as Received).then(resolve, reject);
      });
      sent.end(body);
    });
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", end);
    sent.destroy();
  }
}

/** The body of an answer as JSON; as text where it is none. */
export async function readJson(answer: Received): Promise<unknown> {
  const body = await text(answer);
  try {
    return body === "" ? null : JSON.parse(body);
  } catch {
    return body;
  }
}
