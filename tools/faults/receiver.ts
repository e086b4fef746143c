import { createHash } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Webhook } from "standardwebhooks";
import type { History } from "./history.ts";

/** One message in so many is refused when it comes first, and must come again. */
const REFUSED_OF = 16;
/** One in so many is answered late, so that its sender may be gone by then. */
const LATE_OF = 4;
const LATE_MS = 400;
const OK = 204;
const REFUSED = 503;
/** The sender was gone before it was answered, and knows nothing of it. */
const UNHEARD = 499;

/** What webhooks are sent to. */
export interface Receiver {
  readonly url: string;
  readonly setSecret: (secret: string) => void;
  readonly close: () => void;
}

interface Message {
  readonly data: { readonly executionId: string; readonly status: string };
}

/** Writes down each message that comes. */
export async function openReceiver(history: History): Promise<Receiver> {
  let secret: string | null = null;
  const seen = new Set<string>();
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("error", () => undefined);
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.once("end", () => {
      const body = Buffer.concat(chunks).toString();
      const message = String(request.headers["webhook-id"]);
      const { data } = JSON.parse(body) as Message;
      const isRefused = !seen.has(message) && isOneOf(REFUSED_OF, data.executionId, 0);
      const isLate = isOneOf(LATE_OF, data.executionId, 2);
      seen.add(message);
      const isSigned = isSignedBy(secret, body, request.headers);
      const { executionId: id, status } = data;
      const answer = () => {
        const answered = isRefused ? REFUSED : OK;
        const heard = response.destroyed ? UNHEARD : answered;
        history.add({ kind: "message", message, id, status, isSigned, answered: heard });
        response.writeHead(answered).end();
      };
      setTimeout(answer, isLate ? LATE_MS : 0);
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    setSecret: (next) => (secret = next),
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

function isOneOf(count: number, executionId: string, place: number): boolean {
  return createHash("sha256").update(executionId).digest().readUInt16LE(place) % count === 0;
}

function isSignedBy(secret: string | null, body: string, headers: NodeJS.Dict<string | string[]>): boolean {
  try {
    // The clock of the sender may be wrong, by less than the five minutes that the library allows.
    new Webhook(secret ?? "").verify(body, headers as Record<string, string>);
    return true;
  } catch {
    return false;
  }
}
