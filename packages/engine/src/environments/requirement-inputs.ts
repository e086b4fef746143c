import { CONSTRAINTS_FILE, REQUIREMENTS_FILE } from "./requirements.ts";
import type { Requirements } from "./requirements.ts";

/** The same for pip and uv: the canonical files, in the working directory. */
export function listInputs({ constraints, requiresHashes }: Requirements): readonly string[] {
  return [
    "--requirement",
    REQUIREMENTS_FILE,
    ...(constraints === "" ? [] : ["--constraint", CONSTRAINTS_FILE]),
    ...(requiresHashes ? ["--require-hashes"] : []),
  ];
}
