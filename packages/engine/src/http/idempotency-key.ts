import type { FastifyRequest } from "fastify";
import { Problem } from "@platform/contract/problems";
import { createIdempotencyKey } from "../store/idempotency.ts";
import type { IdempotencyKey } from "../store/idempotency.ts";

const BARE = /^[\x21\x23-\x5b\x5d-\x7e]{1,255}$/;
/** A string of RFC 9651, section 3.3.3, as draft-ietf-httpapi-idempotency-key-header has it. */
const QUOTED = /^"((?:[\x20\x21\x23-\x5b\x5d-\x7e]|\\["\\]){1,255})"$/;

/**
 * The key of `Idempotency-Key`, which may stand in quotation marks or not; undefined: there is none. A header that is sent twice is malformed.
 * @throws Problem INVALID_INPUT
 */
export function readIdempotencyKey({ headers }: FastifyRequest): string | undefined {
  const header = headers["idempotency-key"];
  if (header === undefined) return undefined;
  const text = String(header);
  if (BARE.test(text)) return text;
  const quoted = QUOTED.exec(text)?.[1];
  if (quoted !== undefined) return quoted.replace(/\\(.)/g, "$1");
  throw new Problem(
    "INVALID_INPUT",
    "Idempotency-Key must be one key of 1 to 255 visible ASCII characters, such as a UUID, with or without quotation marks.",
  );
}

/** What a start is remembered by; undefined: it has no key. The path's and the query's part in it is kept as they were sent. */
export function describeKey(request: FastifyRequest, body: Uint8Array): IdempotencyKey | undefined {
  const key = readIdempotencyKey(request);
  if (key === undefined) return undefined;
  return createIdempotencyKey(key, JSON.stringify([request.params, request.query]), body);
}

/** The same of a batch, which is another request than a start with the same body. */
export function describeBatchKey(request: FastifyRequest, body: Uint8Array): IdempotencyKey | undefined {
  const key = readIdempotencyKey(request);
  if (key === undefined) return undefined;
  return createIdempotencyKey(key, JSON.stringify(["batch", request.params, request.query]), body);
}
