/** Text that user code may have written, as it may be stored and shown. */

/** In UTF-16 units. */
export const MAX_CODE_LENGTH = 128;
const MAX_DETAIL_LENGTH = 8000;

interface Cause {
  readonly code: string;
  readonly detail: string;
}

/** Why a start or a run failed. Truncated for lists of executions; the runner observes these lengths, but user code can bypass the runner. */
export function readCause({ code, detail }: Cause): Cause {
  return {
    code: cleanText(toWellFormed(code.slice(0, MAX_CODE_LENGTH))),
    detail: readDetail(detail),
  };
}

/** A sentence of a process that runs user code, cut as that of a cause. */
export function readDetail(detail: string): string {
  return cleanText(toWellFormed(shorten(detail)));
}

/** As the runner marks what it has cut (failure.py). */
function shorten(detail: string): string {
  return detail.length <= MAX_DETAIL_LENGTH ? detail : `${detail.slice(0, MAX_DETAIL_LENGTH - 1)}\u2026`;
}

/** PostgreSQL's text type cannot store NUL and lone surrogates; all other characters are kept. */
export function cleanText(text: string): string {
  return text.includes("\0") ? text.replaceAll("\0", "\uFFFD") : text;
}

/** Lone surrogates have no UTF-8 form: Node writes U+FFFD for them. */
export function toWellFormed(text: string): string {
  return Buffer.from(text, "utf8").toString("utf8");
}
