import { once } from "node:events";
import { Readable, Transform, pipeline } from "node:stream";
import type { FastifyReply, FastifyRequest } from "fastify";
import { Problem } from "@platform/contract/problems";
import type { ByteRange } from "../base/byte-range.ts";
import type { StoredContent } from "../content/content.ts";
import { describeAttachment } from "../content/disposition.ts";
import { toMediaType } from "../content/media-type.ts";
import { readRange } from "../content/range.ts";

/** What a row with the answer mode `content` answers. */
export interface SentContent {
  readonly content: StoredContent;
  /** As its owner named it; anything that is no media type is sent as bytes. */
  readonly type: string;
  /** Of the file under which programs save it. */
  readonly name: string;
}

/**
 * Sends the content or the one range that was asked for; 304 where the caller has it. Nothing is sent before the first byte is there, so that a store
 * that does not answer is a refusal; after it, a fault breaks the connection.
 *
 * The content is of a user, on the origin of the API: no browser shows it, guesses its type, or runs it.
 *
 * @throws Problem RANGE_NOT_SATISFIABLE
 */
export async function sendContent(
  request: FastifyRequest,
  reply: FastifyReply,
  { content, type, name }: SentContent,
): Promise<FastifyReply> {
  const { hash } = content;
  const answer = await answerContent(request, content, hash);
  reply.code(answer.status).headers(answer.headers);
  if (answer.status === 304) return reply.send();
  return reply
    .headers({
      "content-type": toMediaType(type),
      "content-disposition": describeAttachment(name),
      "content-security-policy": "sandbox; default-src 'none'",
      "repr-digest": `sha-256=:${Buffer.from(hash, "hex").toString("base64")}:`,
      "x-content-type-options": "nosniff",
    })
    .send(answer.body);
}

/** What is answered of content that never changes, apart from what the content is. */
export type ContentAnswer =
  | { readonly status: 304; readonly headers: Readonly<Record<string, string>> }
  | {
      readonly status: 200 | 206;
      readonly headers: Readonly<Record<string, string>>;
      readonly body: Readable;
    };

/**
 * All of the content, the range that was asked for, or that the caller has it.
 *
 * @param tag names the content, for ETag
 * @throws Problem RANGE_NOT_SATISFIABLE
 */
export async function answerContent(
  request: FastifyRequest,
  content: AnsweredContent,
  tag: string,
): Promise<ContentAnswer> {
  const { bytes } = content;
  const etag = `"${tag}"`;
  const lasting = { etag, "cache-control": "private" };
  if (isKnown(request.headers["if-none-match"], etag)) return { status: 304, headers: lasting };
  const asked = findRange(request, content, etag);
  const range = asked ?? { start: 0, end: bytes };
  const body = request.method === "HEAD" ? Readable.from([]) : await openContent(content, range);
  return {
    status: asked === null ? 200 : 206,
    headers: {
      ...lasting,
      ...(asked === null ? {} : { "content-range": `bytes ${range.start}-${range.end - 1}/${bytes}` }),
      "accept-ranges": "bytes",
      "content-length": String(range.end - range.start),
    },
    body,
  };
}

/** Content as far as its bytes go. */
type AnsweredContent = Pick<StoredContent, "bytes" | "open">;

/** Whether an If-None-Match names what this ETag does. */
export function isKnown(header: string | undefined, etag: string): boolean {
  const tags = header?.split(",").map((tag) => tag.trim().replace(/^W\//, "")) ?? [];
  return tags.includes(etag) || tags[0] === "*";
}

/** The part that was asked for; null: all. A range is for GET only, and for the content that If-Range names. */
function findRange(
  { method, headers }: FastifyRequest,
  { bytes }: AnsweredContent,
  etag: string,
): ByteRange | null {
  if (method !== "GET" || (headers["if-range"] ?? etag) !== etag) return null;
  const range = readRange(headers.range, bytes);
  if (range === "none")
    throw new Problem(
      "RANGE_NOT_SATISFIABLE",
      `The content has ${bytes} bytes; the range begins behind them.`,
      {
        headers: { "content-range": `bytes */${bytes}` },
      },
    );
  return range === "all" ? null : range;
}

/** Resolves when the first byte is there. Ends with an error where there are fewer or more than the range has: nobody may take a part for the whole. */
async function openContent(content: AnsweredContent, range: ByteRange): Promise<Readable> {
  let missing = range.end - range.start;
  if (missing === 0) return Readable.from([]);
  const counted = new Transform({
    transform(chunk: Uint8Array, _encoding, done) {
      missing -= chunk.length;
      done(missing < 0 ? new Error("more of the content was read than it has") : null, chunk);
    },
    flush: (done) => done(missing > 0 ? new Error(`${missing} bytes of the content are missing`) : null),
  });
  // Of errors the caller hears by `counted`, as soon as it reads; until then they must not end the process.
  counted.on("error", () => undefined);
  pipeline(await content.open(range), counted, () => undefined);
  await once(counted, "readable");
  return counted;
}
