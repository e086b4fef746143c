import type { FastifyReply, FastifyRequest } from "fastify";
import { isKnown } from "../http/send-content.ts";
import { chooseEncoding } from "./choose-encoding.ts";
import { FILE_POLICY } from "./page-headers.ts";
import type { PageFile } from "./read-build.ts";

/** Sends a file of built pages in the encoding that the request prefers; 304 where the browser has it. The reply has the headers of all pages already. */
export function sendFile({ headers }: FastifyRequest, reply: FastifyReply, file: PageFile): FastifyReply {
  const { type, tag, isImmutable, bodies } = file;
  const encoding = chooseEncoding(headers["accept-encoding"], file);
  const etag = encoding === "identity" ? `"${tag}"` : `"${tag}-${encoding}"`;
  reply.headers({
    etag,
    "cache-control": isImmutable ? "public, max-age=31536000, immutable" : "public, max-age=3600",
    vary: "accept-encoding",
  });
  if (isKnown(headers["if-none-match"], etag)) return reply.code(304).send();
  if (!type.startsWith("text/javascript")) reply.header("content-security-policy", FILE_POLICY);
  if (encoding !== "identity") reply.header("content-encoding", encoding);
  return reply.header("content-type", type).send(bodies.get(encoding));
}
