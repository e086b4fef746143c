import type { FastifyRequest } from "fastify";
import { Problem } from "@platform/contract/problems";

/** PostgreSQL's `text` cannot hold U+0000: refused here, it is an error of the caller. @throws Problem INVALID_INPUT */
export function refuseNullCharacters(request: FastifyRequest): void {
  const parts = {
    path: request.params,
    query: request.query,
    body: isPlain(request.body) ? request.body : null,
  };
  for (const [where, part] of Object.entries(parts)) {
    if (hasNullCharacter(part))
      throw new Problem("INVALID_INPUT", `The ${where} contains a null character (U+0000).`);
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

function hasNullCharacter(value: unknown): boolean {
  if (typeof value === "string") return value.includes("\0");
  if (typeof value !== "object" || value === null) return false;
  return Object.entries(value).some(([key, item]) => key.includes("\0") || hasNullCharacter(item));
}
