import { Problem } from "@platform/contract/problems";
import { ProjectError } from "@platform/engine/project/project-error";
import { getCode } from "@platform/engine/base/thrown";
import { EmbeddedPostgresError } from "../postgres/errors.ts";
import { SettingError } from "../config/settings.ts";

/** The platform cannot start as configured; the message says what to change. */
export class StartError extends Error {
  override readonly name = "StartError";
}

/** Errors whose message says what the operator has to do. Anything else is a bug and is shown with its stack. */
const KINDS = [StartError, SettingError, EmbeddedPostgresError, ProjectError];

/** What can happen wherever something is written. */
const STORAGE_CODES: ReadonlySet<string> = new Set(["EDQUOT", "ENOSPC", "EROFS"]);

/** The text for the operator when the platform did not start. */
export function describeStartError(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (KINDS.some((kind) => error instanceof kind)) return error.message;
  if (error instanceof Problem)
    return `The database cannot be used: ${describeCause(error)}. Is DATABASE_URL right, and does the server run?`;
  const reason = STORAGE_CODES.has(getCode(error) ?? "") ? describeSystemError(error) : null;
  if (reason !== null) return `The platform cannot start: ${reason} (${error.message}).`;
  return error.stack ?? error.message;
}

function describeCause({ cause, message }: Error): string {
  if (!(cause instanceof Error)) return message;
  // When connections to several addresses failed, the reasons are in `errors`.
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

/** The reason of a system error in words, without a period; null when it is not one that operators can fix. */
export function describeSystemError(error: unknown): string | null {
  return REASONS[getCode(error) ?? ""] ?? null;
}
