import { RequestRefused } from "@platform/contract/client";
import { NOTHING_AT } from "@platform/contract/nothing-at";
import type { FieldError, ProblemBody } from "@platform/contract/problems";
import { getCode, getMessage } from "@platform/engine/base/thrown";
import { EXIT_CODES, UserError, createInterruption } from "./errors.ts";

/** What an explanation depends on besides the error. */
export interface Circumstances {
  /** Address of the platform in use. */
  readonly endpoint: string;
  /** The command was interrupted; most errors are then only its consequence. */
  readonly isInterrupted: boolean;
  /** Where the personal access token in use comes from; missing: the stored login. */
  readonly tokenFrom?: "variable" | "login";
  /** The command that lists the things which the one that failed is about; missing: there is none, or it failed itself. */
  readonly listCommand?: string | undefined;
}

/** Converts an error of a command, the platform, the network or a file into an error for the user; null for any other. */
export function explainError(error: unknown, circumstances: Circumstances): UserError | null {
  if (error instanceof UserError) return error;
  if (circumstances.isInterrupted) return createInterruption();
  if (error instanceof RequestRefused) return explainRefusal(error, circumstances);
  return explainNetworkError(error, circumstances.endpoint) ?? explainFileError(error);
}

const WHOAMI = "'platform whoami' shows the user and the organisation in use.";

const HINTS: Readonly<Record<string, string>> = {
  FORBIDDEN:
    "See 'platform whoami' for the user and the organisation in use. 'platform set-context' chooses another organisation; 'platform login' makes a token that may do all that its user may.",
  SERVICE_NOT_FOUND:
    "See 'platform services' and 'platform versions' for those of this organisation, 'platform marketplace search' and 'platform marketplace show' for all that it can subscribe to, and 'platform whoami' for the organisation.",
  BACKEND_NOT_FOUND:
    "'platform backends' lists those of the organisation; 'platform whoami' shows which one that is.",
  EXECUTION_NOT_FOUND: "Jobs belong to an organisation: see 'platform whoami' for the one in use.",
  RESULT_NOT_READY: "See 'platform status <id>'.",
  INPUT_TOO_LARGE:
    'Upload the data to a data pool and pass its reference: {"dataRef": ...} through the service\'s API.',
  RATE_LIMITED: "Wait a moment and try again.",
  UNAVAILABLE: "Nothing was stored. Try again in a moment.",
};

const ADVICE_ON_TOKENS = {
  variable:
    "The token is that of the variable PLATFORM_PERSONAL_ACCESS_TOKEN, which takes precedence over the stored login: set it to a valid one, or unset it and run 'platform login'.",
  login:
    "Copy the whole token, or run 'platform login' without --token to have one made. The stored login was kept.",
  stored:
    "Log in again with 'platform login', or set PLATFORM_PERSONAL_ACCESS_TOKEN. The stored login was kept.",
} as const;

function findHint(
  { code, detail, errors = [] }: ProblemBody,
  circumstances: Circumstances,
): string | undefined {
  // A value is forbidden, whoever sends it.
  if (code === "FORBIDDEN" && errors.length > 0) return undefined;
  if (code === "UNAUTHENTICATED") return ADVICE_ON_TOKENS[circumstances.tokenFrom ?? "stored"];
  if (code !== "NOT_FOUND") return HINTS[code];
  if (detail.startsWith(NOTHING_AT))
    return `Check the endpoint, ${circumstances.endpoint}: 'platform login --endpoint URL' or PLATFORM_ENDPOINT. It is the address of the platform API, not of the gateway; a platform that is older than this program does not know the command.`;
  const { listCommand } = circumstances;
  return listCommand === undefined ? WHOAMI : `'${listCommand}' lists what there is; ${WHOAMI}`;
}

function explainRefusal(refused: RequestRefused, circumstances: Circumstances): UserError {
  const { code, detail, errors, requestId } = refused.problem;
  const hint =
    findHint(refused.problem, circumstances) ??
    (refused.status >= 500
      ? "The error occurred on the platform. Try again; if it persists, ask its operator."
      : undefined);
  const { text, details } = describeFields(detail, errors ?? []);
  return new UserError(code, requestId === undefined ? text : `${text} (request ${requestId})`, {
    cause: refused,
    details,
    ...(hint === undefined ? {} : { hint }),
  });
}

/**
 * The text and a line for each invalid field. A text that has them all, as the API calls them (`body/limits/perMonth`), is made of the lines
 * (`limits.perMonth`). A line that the text has already is the same to the letter, so that it is printed once.
 */
export function describeFields(
  detail: string,
  errors: readonly FieldError[],
): { readonly text: string; readonly details: readonly string[] } {
  const isComplete =
    errors.length > 0 && errors.every(({ path, message }) => detail.includes(`${path} ${message}`));
  const details = errors.map(({ path, message }) => {
    const field = path === "" ? "The request" : path.slice(1).replaceAll("/", ".");
    if (isComplete) return `${field} ${message.replace(/[.]?$/u, ".")}`;
    return detail.includes(message) ? message : `${field}: ${message}`;
  });
  return { text: isComplete ? details.join(" ") : detail, details };
}

const CONNECTION_REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: "the connection was refused, no program listens there",
  ECONNRESET: "the connection was closed",
  EPIPE: "the connection was closed",
  UND_ERR_SOCKET: "the connection was closed",
  ENOTFOUND: "the host name is not known",
  EAI_AGAIN: "the host name cannot be looked up at present",
  ETIMEDOUT: "it does not answer",
  EHOSTUNREACH: "there is no route to this host",
  ENETUNREACH: "there is no route to this network",
  UND_ERR_CONNECT_TIMEOUT: "it does not answer",
  UND_ERR_HEADERS_TIMEOUT: "it does not answer",
  UND_ERR_BODY_TIMEOUT: "it stopped answering",
};

/** Whether `fetch` failed. The platform may or may not have received the request. */
export function isNetworkError(error: unknown): boolean {
  return error instanceof TypeError && error.message === "fetch failed";
}

/** Explains a failed connection, or a certificate that is not trusted; null for other errors. */
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
  const reason = (code && CONNECTION_REASONS[code]) ?? code ?? getMessage(error.cause ?? error);
  return new UserError("PLATFORM_UNREACHABLE", `The platform at ${endpoint} cannot be reached: ${reason}.`, {
    cause: error,
    hint: "Check that it is running and that the endpoint is correct ('platform login --endpoint URL' or PLATFORM_ENDPOINT). The stored login was kept.",
  });
}

/** Of these no request was ever sent. */
const NEVER_CONNECTED = new Set([
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "UND_ERR_CONNECT_TIMEOUT",
]);

/** Says why there is no connection to a URL; null: there was one, or it failed for another reason. */
export function explainUnreachable(error: unknown, url: string): UserError | null {
  const code = isNetworkError(error) && error instanceof TypeError ? findCauseCode(error.cause) : undefined;
  if (code === undefined || !NEVER_CONNECTED.has(code)) return null;
  return new UserError("UNREACHABLE", `${url} cannot be reached: ${CONNECTION_REASONS[code] ?? code}.`, {
    cause: error,
    hint: "Check the URL, and that the server is running.",
  });
}

/** The code of the first error: a host with several addresses fails with one error per address. */
function findCauseCode(cause: unknown): string | undefined {
  if (cause instanceof AggregateError) return getCode(cause) ?? getCode(cause.errors[0]);
  return getCode(cause);
}

const FILE_REASONS: Readonly<Record<string, string>> = {
  ENOENT: "does not exist",
  EACCES: "cannot be accessed: you lack the permission",
  EPERM: "cannot be changed: you lack the permission",
  EEXIST: "is there already",
  EISDIR: "is a folder",
  ENOTDIR: "has a parent that is not a folder",
  ENOSPC: "cannot be written: the disk is full",
  EROFS: "is on a read-only file system",
};

/** Explains an error of the operating system about a file; null for other errors. */
function explainFileError(error: unknown): UserError | null {
  const code = getCode(error) ?? "";
  // A file has the name of a folder to be made.
  const isInTheWay =
    code === "EEXIST" && error instanceof Error && "syscall" in error && error.syscall === "mkdir";
  const reason = isInTheWay ? "is no folder" : FILE_REASONS[code];
  if (reason === undefined || !(error instanceof Error)) return null;
  // Node.js does not say which folder it was that it could not read as a file.
  if (!("path" in error) && code !== "EISDIR") return null;
  const name = "path" in error ? `'${String(error.path)}'` : "What is to be read as a file";
  return new UserError("FILE_ERROR", `${name} ${reason}.`, {
    cause: error,
    exitCode: EXIT_CODES.failure,
  });
}
