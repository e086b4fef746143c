import { Problem } from "@platform/contract/problems";
import { ProjectError } from "@platform/engine/project/project-error";
import { SandboxUnavailableError } from "@platform/engine/python/sandbox/sandbox";
import { EmbeddedPostgresError } from "../postgres/errors.ts";
import { SettingError } from "../config/settings.ts";

/** The platform cannot start as it was asked to; the message says what to change. */
export class StartError extends Error {
  override readonly name = "StartError";
}

/** Kinds of errors whose message says what the operator has to do; anything else is a bug of ours and shows its stack. */
const KINDS = [StartError, SettingError, EmbeddedPostgresError, SandboxUnavailableError, ProjectError];

/** Why the platform did not start, for the operator. */
export function describeStartError(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (KINDS.some((kind) => error instanceof kind)) return error.message;
  if (error instanceof Problem)
    return `The database cannot be used: ${describeCause(error)}. Is DATABASE_URL right, and does the server run?`;
  return error.stack ?? error.message;
}

function describeCause({ cause, message }: Error): string {
  if (!(cause instanceof Error)) return message;
  // A failed connection to several addresses has its reasons inside.
  return cause.message === "" && cause instanceof AggregateError
    ? cause.errors.map(String).join("; ")
    : cause.message;
}

const REASONS: Readonly<Record<string, string>> = {
  EACCES: "permission denied",
  EADDRINUSE: "another program listens there already",
  EADDRNOTAVAIL: "this machine does not have that address",
  EEXIST: "there is a file of that name",
  EDQUOT: "the disk quota is used up",
  ENOENT: "it cannot be made there",
  ENOSPC: "the disk is full",
  ENOTDIR: "a part of the path is a file",
  ENOTFOUND: "the host name is not known",
  EPERM: "permission denied",
  EROFS: "the file system is read-only",
};

/** The operating system's reason in words; null when it is none that an operator meets. */
export function describeSystemError(error: unknown): string | null {
  if (!(error instanceof Error) || !("code" in error) || typeof error.code !== "string") return null;
  return REASONS[error.code] ?? null;
}
