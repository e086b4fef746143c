import { createHash } from "node:crypto";
import type { Interpreter } from "./interpreter.ts";
import type { Requirements } from "./requirements.ts";

/** Part of every name: raise it when environments are built in another way, so that old ones are not used and can be told apart. */
const FORMAT = "v2";

/**
 * Wheels that are pinned by hash are the same bytes for everybody. All else may be what its owner wanted it to be; so may what is built from
 * a pinned source, by tools that nobody pinned.
 */
export function createKey(
  interpreter: Interpreter,
  requirements: Requirements,
  owner: string | null,
): string {
  const { text, constraints, content, requiresHashes } = requirements;
  return hashKey([
    [interpreter.executable.path, interpreter.version, process.platform, process.arch],
    owner === null ? [null, "wheels"] : [owner],
    [text, constraints, content, requiresHashes],
  ]);
}

/** The key of an interpreter without any requirements. */
export function createBaseKey({ executable, version }: Interpreter): string {
  return hashKey([executable.path, version]);
}

/** JSON keeps the parts apart, whatever they contain. */
function hashKey(parts: readonly unknown[]): string {
  return `${FORMAT}-${createHash("sha256").update(JSON.stringify(parts)).digest("hex")}`;
}
