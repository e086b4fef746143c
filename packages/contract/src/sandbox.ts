/** What a level of isolation needs of the machine, and what it gives: one sentence each, with a period. */
interface LevelRule {
  readonly needs: string;
  readonly gives: string;
}

/** The levels at which a worker can isolate user code, the strongest first. */
export const SANDBOX_LEVELS = {
  A: {
    needs: "Linux with user namespaces, seccomp and Landlock, and the right to create control groups.",
    gives:
      "Each execution has namespaces, system call filters and a control group of its own: the kernel enforces its memory and CPU.",
  },
  B: {
    needs: "Linux with user namespaces and seccomp.",
    gives:
      "Each execution has namespaces and filters of system calls of its own; without control groups, its memory and CPU are sampled, and limited less exactly.",
  },
  C: {
    needs: "Linux with Landlock and seccomp; no user namespaces.",
    gives:
      "Each execution is confined to its own files by Landlock and system call filters; it sees the processes of the host.",
  },
  D: { needs: "Nothing.", gives: "User code is not isolated: run only code that you trust." },
} as const satisfies Record<string, LevelRule>;

/** How well a worker isolates user code: A is the strongest level, D is none. */
export type SandboxLevel = keyof typeof SANDBOX_LEVELS;

/** All levels, the strongest first. */
export const SANDBOX_LEVEL_NAMES = Object.keys(SANDBOX_LEVELS) as readonly SandboxLevel[];

/** Whether a level isolates at least as well as another. */
export function isAtLeast(level: SandboxLevel, minimum: SandboxLevel): boolean {
  return SANDBOX_LEVEL_NAMES.indexOf(level) <= SANDBOX_LEVEL_NAMES.indexOf(minimum);
}

/** A part of the isolation that a machine may or may not offer. */
export type SandboxPiece =
  | "user namespaces"
  | "seccomp"
  | "Landlock"
  | "control groups"
  | "network"
  | "users of their own";

/** A part that a worker tried in vain at its start. */
export interface MissingPiece {
  readonly piece: SandboxPiece;
  /** What was tried and how it failed: a sentence. */
  readonly why: string;
  /** What to install, allow or set: a sentence. */
  readonly remedy: string;
}

/** What a worker found when it tried each part of the isolation. */
export interface SandboxReport {
  readonly level: SandboxLevel;
  /** What a better isolation needs; empty at level A. */
  readonly missing: readonly MissingPiece[];
}
