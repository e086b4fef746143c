import type { SandboxLevel } from "@platform/contract/sandbox";

/** The levels at which the attacks are tried: those that promise isolation and that a test can have on its machine. */
export const ATTACKED_LEVELS: readonly SandboxLevel[] = ["B"];
