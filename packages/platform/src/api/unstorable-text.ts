import type { FastifyRequest } from "fastify";
import { Problem } from "@platform/contract/problems";

/**
 * What PostgreSQL's `text` cannot hold: U+0000, which is an error there, and halves of characters, which would be stored as another character. Refused
 * here, it is an error of the caller.
 *
 * @throws Problem INVALID_INPUT
 */
export function refuseUnstorableText(request: FastifyRequest): void {
  const parts = {
    path: request.params,
    query: request.query,
    body: isPlain(request.body) ? request.body : null,
  };
  for (const [where, part] of Object.entries(parts)) {
    const fault = findFault(part);
    if (fault !== null) throw new Problem("INVALID_INPUT", `The ${where} contains ${fault}.`);
  }
}

/** Uploads and raw bodies are not searched. */
function isPlain(body: unknown): boolean {
  return (
    typeof body === "object" &&
    body !== null &&
    [Object.prototype, null].includes(Object.getPrototypeOf(body))
  );
}

/** By code points: of a pair of surrogates neither is found. */
const HALF = /\p{Cs}/u;

function findFault(value: unknown): string | null {
  if (typeof value === "string") {
    if (value.includes("\0")) return "a null character (U+0000)";
    return HALF.test(value) ? "half a character (a surrogate without the other one)" : null;
  }
  if (typeof value !== "object" || value === null) return null;
  for (const [key, item] of Object.entries(value)) {
    const fault = findFault(key) ?? findFault(item);
    if (fault !== null) return fault;
  }
  return null;
}
