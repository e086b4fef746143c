import { createHash } from "node:crypto";
import type { Interpreter } from "./interpreter.ts";
import type { Requirements } from "./requirements.ts";

/** Part of every name: increment it when environments are built in another way, so that old ones are no longer used. */
const FORMAT = "v3";

/** Who shares an environment, and how it is made. */
export interface KeyScope {
  /**
   * Null: all owners. Only wheels that are pinned by hash are the same bytes for all; anything else can be influenced by its owner, also a
   * package that is built from a pinned source: the build tools are not pinned.
   */
  readonly owner: string | null;
  readonly sourceBuilds: boolean;
}

/** The key of the environment of these requirements. */
export function createKey(
  interpreter: Interpreter,
  requirements: Requirements,
  { owner, sourceBuilds }: KeyScope,
): string {
  const { text, constraints, content, requiresHashes } = requirements;
  return hashKey([
    [interpreter.executable.path, interpreter.version, process.platform, process.arch],
    [owner, sourceBuilds ? "sources" : "wheels"],
    [text, constraints, content, requiresHashes],
  ]);
}

/** The key of an interpreter without any requirements. */
export function createBaseKey({ executable, version }: Interpreter): string {
  return hashKey([executable.path, version]);
}

/** JSON, so that parts cannot run into each other, whatever they contain. */
function hashKey(parts: readonly unknown[]): string {
  return `${FORMAT}-${createHash("sha256").update(JSON.stringify(parts)).digest("hex")}`;
}
