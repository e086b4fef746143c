import { RequestRefused } from "@platform/contract/client";
import { EXIT_CODES, UserError, createInterruption, getErrorCode, getErrorMessage } from "./errors.ts";

/** What an error may need to know about the moment it happened in. */
export interface ErrorSurroundings {
  readonly endpoint: string;
  readonly isInterrupted: boolean;
}

/** Turns what was thrown into an error for the user, or null when it is a bug of ours. */
export function explainError(error: unknown, surroundings: ErrorSurroundings): UserError | null {
  if (error instanceof UserError) return error;
  if (surroundings.isInterrupted) return createInterruption();
  if (error instanceof RequestRefused) return explainRefusal(error);
  return (
    explainProjectError(error) ?? explainNetworkError(error, surroundings.endpoint) ?? explainFileError(error)
  );
}

const HINTS: Readonly<Record<string, string>> = {
  UNAUTHENTICATED:
    "Log in again with 'platform login', or set PLATFORM_PERSONAL_ACCESS_TOKEN. The stored login was kept.",
  FORBIDDEN:
    "See 'platform whoami' for the organisation you work in, and choose another with 'platform set-context'.",
  SERVICE_NOT_FOUND:
    "See 'platform services' for the services of this organisation, and 'platform whoami' for the organisation.",
  EXECUTION_NOT_FOUND: "Jobs belong to an organisation: see 'platform whoami' for the one you work in.",
  RESULT_NOT_READY: "See 'platform status <id>'.",
  INPUT_TOO_LARGE:
    'Upload the data to a data pool and pass its reference: {"dataRef": ...} through the service\'s API.',
  RATE_LIMITED: "Wait a moment and try again.",
  QUOTA_EXCEEDED:
    "Wait for builds to end, retire versions that are not called any more, or ask the operator for more.",
  UNAVAILABLE: "Nothing was accepted. Try again in a moment.",
};

function explainRefusal(refused: RequestRefused): UserError {
  const { code, detail, errors, requestId } = refused.problem;
  const hint =
    HINTS[code] ??
    (refused.status >= 500
      ? "The fault is on the platform's side. Try again; if it stays, ask its operator."
      : undefined);
  return new UserError(code, requestId === undefined ? detail : `${detail} (request ${requestId})`, {
    cause: refused,
    faults: (errors ?? []).map((fault) =>
      fault.path === "" ? fault.message : `${fault.path}: ${fault.message}`,
    ),
    ...(hint === undefined ? {} : { hint }),
  });
}

/** By name: importing the engine's project room only to compare classes would cost every command its start-up time. */
function explainProjectError(error: unknown): UserError | null {
  if (!(error instanceof Error) || error.name !== "ProjectError") return null;
  const isMissing = error.message.startsWith("platform.json is missing");
  return new UserError(getErrorCode(error) ?? "INVALID_PROJECT", error.message, {
    cause: error,
    ...(isMissing
      ? { hint: "Run this in a project's folder, or create a project with 'platform init'." }
      : {}),
  });
}

const CONNECTION_FAULTS: Readonly<Record<string, string>> = {
  ECONNREFUSED: "the connection was refused: nothing listens there",
  ECONNRESET: "the connection was cut",
  EPIPE: "the connection was cut",
  UND_ERR_SOCKET: "the connection was cut",
  ENOTFOUND: "the host name is not known",
  EAI_AGAIN: "the host name cannot be looked up now",
  ETIMEDOUT: "it does not answer",
  EHOSTUNREACH: "there is no way to this host",
  ENETUNREACH: "there is no way to this network",
  UND_ERR_CONNECT_TIMEOUT: "it does not answer",
  UND_ERR_HEADERS_TIMEOUT: "it does not answer",
  UND_ERR_BODY_TIMEOUT: "it stopped answering",
};

/** Whether the request may not have reached the platform: nothing is known about what the platform thinks of it. */
export function isNetworkError(error: unknown): boolean {
  return error instanceof TypeError && error.message === "fetch failed";
}

/** Names the network's fault; a refused TLS certificate counts as one. */
function explainNetworkError(error: unknown, endpoint: string): UserError | null {
  if (!isNetworkError(error) || !(error instanceof TypeError)) return null;
  const code = findCauseCode(error.cause);
  if (code !== undefined && /CERT|SELF_SIGNED|UNABLE_TO|TLS|SSL/.test(code)) {
    return new UserError(
      "TLS_NOT_TRUSTED",
      `The certificate of ${endpoint} is not trusted (${code}): nothing was sent.`,
      {
        cause: error,
        hint: "If the certificate is signed by your own authority, name that authority's file in NODE_EXTRA_CA_CERTS.",
      },
    );
  }
  const reason = (code && CONNECTION_FAULTS[code]) ?? code ?? getErrorMessage(error.cause ?? error);
  return new UserError("PLATFORM_UNREACHABLE", `The platform at ${endpoint} cannot be reached: ${reason}.`, {
    cause: error,
    hint: "Check that it runs and that the endpoint is right ('platform login --endpoint URL' or PLATFORM_ENDPOINT). The stored login was kept.",
  });
}

/** A host with several addresses fails with a bundle of errors, one per address. */
function findCauseCode(cause: unknown): string | undefined {
  if (cause instanceof AggregateError) return getErrorCode(cause) ?? getErrorCode(cause.errors[0]);
  return getErrorCode(cause);
}

const FILE_FAULTS: Readonly<Record<string, string>> = {
  ENOENT: "does not exist",
  EACCES: "may not be read or written by you",
  EPERM: "may not be changed by you",
  EISDIR: "is a folder",
  ENOTDIR: "lies below something that is no folder",
  ENOSPC: "cannot be written: the disk is full",
  EROFS: "lies on a read-only file system",
};

function explainFileError(error: unknown): UserError | null {
  const fault = FILE_FAULTS[getErrorCode(error) ?? ""];
  if (fault === undefined || !(error instanceof Error) || !("path" in error)) return null;
  return new UserError("FILE_ERROR", `'${String(error.path)}' ${fault}.`, {
    cause: error,
    exitCode: EXIT_CODES.failure,
  });
}
