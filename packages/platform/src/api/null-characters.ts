import type { FastifyRequest } from "fastify";
import { Problem } from "@platform/contract/problems";

/** PostgreSQL's text cannot hold U+0000; said here, it is the caller's mistake and not ours. @throws Problem INVALID_INPUT */
export function refuseNullCharacters(request: FastifyRequest): void {
  const parts = {
    path: request.params,
    query: request.query,
    body: isPlain(request.body) ? request.body : null,
  };
  for (const [where, part] of Object.entries(parts)) {
    if (hasNullCharacter(part))
      throw new Problem("INVALID_INPUT", `There is a null character (U+0000) in the ${where}.`);
  }
}

/** Uploads and raw bodies are not looked into. */
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
