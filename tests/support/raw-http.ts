import { connect } from "node:net";
import type { Socket } from "node:net";

/** A request as bytes: nothing of it is checked or repaired on the way. */
export interface RawRequest {
  readonly bytes: Uint8Array;
  readonly isHead: boolean;
  /** It promises more than it sends: the sending side is closed after it. */
  readonly isTruncated: boolean;
}

export interface RawAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** A connection that is kept alive as long as the server likes it. */
export interface RawConnection {
  /** Null where the server closed the connection without a word. */
  readonly send: (request: RawRequest) => Promise<RawAnswer | null>;
  readonly close: () => void;
}

export function openConnection(origin: string): RawConnection {
  const { hostname, port } = new URL(origin);
  let socket: Socket | null = null;
  const send = async (request: RawRequest): Promise<RawAnswer | null> => {
    const used = socket ?? (await dial(hostname, Number(port)));
    socket = null;
    const answer = await exchange(used, request);
    const isKept = answer !== null && !request.isTruncated && answer.headers["connection"] !== "close";
    if (isKept && !used.destroyed) socket = used;
    else used.destroy();
    return answer;
  };
  return {
    // A connection that the server had just closed says nothing of this request.
    send: async (request) => {
      const isFresh = socket === null;
      const answer = await send(request);
      return answer === null && !isFresh ? send(request) : answer;
    },
    close: () => socket?.destroy(),
  };
}

async function dial(host: string, port: number): Promise<Socket> {
  const socket = connect({ host, port, noDelay: true });
  await new Promise<void>((resolve, reject) => socket.once("connect", resolve).once("error", reject));
  return socket.on("error", () => undefined);
}

function exchange(socket: Socket, request: RawRequest): Promise<RawAnswer | null> {
  return new Promise((resolve) => {
    let received = Buffer.alloc(0);
    const settle = (answer: RawAnswer | null) => {
      socket.removeAllListeners("data").removeAllListeners("close");
      resolve(answer);
    };
    socket.on("data", (chunk: Buffer) => {
      received = Buffer.concat([received, chunk]);
      const answer = readAnswer(received, request.isHead);
      if (answer !== null) settle(answer);
    });
    socket.on("close", () => settle(readAnswer(received, true)));
    socket.write(request.bytes);
    if (request.isTruncated) socket.end();
  });
}

/** The final answer once it is there in full. */
function readAnswer(received: Buffer, isHead: boolean): RawAnswer | null {
  const end = received.indexOf("\r\n\r\n");
  if (end < 0) return null;
  const [first = "", ...lines] = received.subarray(0, end).toString("latin1").split("\r\n");
  const status = Number(first.split(" ")[1]);
  const rest = received.subarray(end + 4);
  if (status < 200) return readAnswer(rest, isHead);
  const headers = Object.fromEntries(
    lines.map((line) => {
      const colon = line.indexOf(":");
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
    }),
  );
  const body = isHead || status === 204 || status === 304 ? Buffer.alloc(0) : readBody(rest, headers);
  return body && { status, headers, body: body.toString("utf8") };
}

function readBody(rest: Buffer, headers: Readonly<Record<string, string>>): Buffer | null {
  if (headers["transfer-encoding"] === "chunked") return readChunks(rest);
  const length = Number(headers["content-length"] ?? "0");
  return rest.length < length ? null : rest.subarray(0, length);
}

function readChunks(rest: Buffer): Buffer | null {
  const chunks: Buffer[] = [];
  for (let at = 0; ;) {
    const end = rest.indexOf("\r\n", at);
    const size = Number.parseInt(rest.subarray(at, Math.max(end, at)).toString("latin1"), 16);
    const next = end + 2 + size + 2;
    if (end < 0 || next > rest.length) return null;
    if (size === 0) return Buffer.concat(chunks);
    chunks.push(rest.subarray(end + 2, end + 2 + size));
    at = next;
  }
}
