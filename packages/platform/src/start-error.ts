import { Problem } from "@platform/contract/problems";
import { ProjectError } from "@platform/engine/project/project-error";
import { SandboxUnavailableError } from "@platform/engine/python/sandbox/sandbox";
import { EmbeddedPostgresError } from "./postgres/errors.ts";
import { SettingError } from "./settings.ts";

/** Kinds of errors whose message tells the operator what to do; anything else is a bug of ours and shows its stack. */
const KINDS = [SettingError, EmbeddedPostgresError, SandboxUnavailableError, ProjectError];

/** Why the platform did not start, for the operator. */
export function describeStartError(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (KINDS.some((kind) => error instanceof kind)) return error.message;
  if (error instanceof Problem)
    return `The database cannot be used: ${describeCause(error)}. Is DATABASE_URL right, and does the server run?`;
  if ("code" in error && error.code === "EADDRINUSE")
    return `${error.message}. Choose other ports with --gateway-port and --api-port.`;
  return error.stack ?? error.message;
}

function describeCause({ cause, message }: Error): string {
  if (!(cause instanceof Error)) return message;
  // A failed connection to several addresses has its reasons inside.
  return cause.message === "" && cause instanceof AggregateError
    ? cause.errors.map(String).join("; ")
    : cause.message;
}
