import { SANDBOX_LEVEL_NAMES } from "@platform/contract/sandbox";
import type { MissingPiece, SandboxLevel, SandboxPiece, SandboxReport } from "@platform/contract/sandbox";

/** The pieces without which a level is not reached. */
const NEEDS: Readonly<Record<SandboxLevel, readonly SandboxPiece[]>> = {
  A: ["user namespaces", "seccomp", "Landlock", "control groups"],
  B: ["user namespaces", "seccomp"],
  C: ["seccomp", "Landlock"],
  D: [],
};

/** Whether a level is not reached without the piece. */
export function isNeeded(piece: SandboxPiece, level: SandboxLevel): boolean {
  return NEEDS[level].includes(piece);
}

/** The best level that does not need any of the missing pieces. */
export function gradeSandbox(missing: readonly MissingPiece[]): SandboxReport {
  const lacking = new Set(missing.map(({ piece }) => piece));
  const level = SANDBOX_LEVEL_NAMES.find((name) => NEEDS[name].every((piece) => !lacking.has(piece))) ?? "D";
  return { level, missing };
}

/** Says which piece is missing, why, and how to get it; sentences for the operator. */
export function describeMissing({ piece, why, remedy }: MissingPiece): string {
  return `${piece}: ${why} ${remedy}`;
}

/** Says, for the operator, what the machine lacks for a level, and how to get each piece; lines of text. */
export function describeShortfall({ level, missing }: SandboxReport, wanted: SandboxLevel): string {
  const needed = missing.filter(({ piece }) => isNeeded(piece, wanted));
  const lines = needed.map((piece) => `- ${describeMissing(piece)}`);
  return [
    `This machine can isolate user code at level ${level} only; level ${wanted} is required.`,
    ...lines,
  ].join("\n");
}
