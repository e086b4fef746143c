import { RequestRefused } from "@platform/contract/client";
import type { FieldError } from "@platform/contract/problems";

/** What went wrong, for people. */
export interface ExplainedError {
  readonly title: string;
  /** A sentence. */
  readonly detail: string;
  /** Code of the platform; absent: the platform has not answered. */
  readonly code?: string;
  /** Names the request in the operator's log. */
  readonly requestId?: string;
  /** The invalid fields. */
  readonly fields: readonly FieldError[];
  /** Whether trying again can help. */
  readonly isRetryable: boolean;
}

const TITLES: Readonly<Record<number, string>> = {
  401: "You are not signed in",
  403: "You may not do this",
  404: "This does not exist, or is not yours",
  409: "This conflicts with what is there",
  410: "This is not kept any more",
  413: "This is too large",
  429: "Too much at once",
  503: "The platform is busy",
};

/** Where the code says more than the status. */
const TITLES_BY_CODE: Readonly<Record<string, string>> = {
  UNAUTHENTICATED: "You are not signed in any more",
  INVALID_CREDENTIALS: "Signing in was refused",
  LINK_EXPIRED: "The link cannot be used any more",
};

const UNREACHABLE: ExplainedError = {
  title: "The platform cannot be reached",
  detail: "There is no connection to the platform, or it is being restarted.",
  fields: [],
  isRetryable: true,
};

/** Whether it is no answer of the platform, but e.g. a page of the proxy before it: only its status is known. Too large is too large for both. */
function isOfAnother({ status, problem }: RequestRefused): boolean {
  return problem.code.startsWith("HTTP_") && status !== 413;
}

/** Explains whatever was thrown by a request. */
export function explainError(error: unknown): ExplainedError {
  if (error instanceof RequestRefused) {
    const { status, problem } = error;
    if (isOfAnother(error))
      return { ...UNREACHABLE, detail: `Something else has answered. ${problem.detail}` };
    return {
      title:
        TITLES_BY_CODE[problem.code] ??
        TITLES[status] ??
        (status >= 500 ? "The platform has failed" : "The request was refused"),
      detail: problem.detail,
      code: problem.code,
      ...(problem.requestId === undefined ? {} : { requestId: problem.requestId }),
      fields: problem.errors ?? [],
      isRetryable: status >= 500 || status === 429 || status === 408,
    };
  }
  // A failed `fetch` is a TypeError in every browser, and says no more than that.
  if (error instanceof TypeError) return UNREACHABLE;
  return {
    title: "The console has failed",
    detail: error instanceof Error ? error.message : "Something was thrown that is no error.",
    fields: [],
    isRetryable: false,
  };
}

/** Whether nobody is signed in, or not any more. */
export function isUnauthenticated(error: unknown): boolean {
  return error instanceof RequestRefused && error.problem.code === "UNAUTHENTICATED";
}

/** Whether the user may not, by their role or since they are no member. */
export function isForbidden(error: unknown): boolean {
  return error instanceof RequestRefused && error.status === 403 && !isOfAnother(error);
}

/** Whether what is there is not what it was taken for. */
export function isConflict(error: unknown): boolean {
  return error instanceof RequestRefused && error.problem.code === "CONFLICT";
}

const OF_WHAT_IS_SENT: ReadonlySet<string> = new Set([
  "INVALID_INPUT",
  "INVALID_ARCHIVE",
  "INVALID_PROJECT",
  "ARCHIVE_TOO_LARGE",
  "FILE_TOO_LARGE",
  "HTTP_413",
]);

/** Whether it is what was sent that is refused, as the name or the size of a file, or a project: who sends the same again is refused again. */
export function isOfWhatIsSent(error: unknown): boolean {
  return error instanceof RequestRefused && OF_WHAT_IS_SENT.has(error.problem.code);
}

/** Whether a result is one that the platform has no normal form for. */
export function isWithoutNormalForm(error: unknown): boolean {
  return error instanceof RequestRefused && error.problem.code === "NO_NORMAL_FORM";
}

/** Whether the platform says that what was asked for does not exist, or is another's. */
export function isNotFound(error: unknown): boolean {
  return error instanceof RequestRefused && /(?:^|_)NOT_FOUND$/u.test(error.problem.code);
}

/** Whether the platform has refused it, and will as often as it is asked. */
export function isRefusedForGood(error: unknown): boolean {
  return error instanceof RequestRefused && !explainError(error).isRetryable;
}
