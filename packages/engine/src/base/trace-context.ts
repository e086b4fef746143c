/** Where something belongs in a trace of the caller's (https://www.w3.org/TR/trace-context/). */
export interface TraceContext {
  /** `00-TRACE-PARENT-FLAGS`, 55 characters. */
  readonly traceparent: string;
  /** What the caller's systems add for each other; at most 512 characters. */
  readonly tracestate?: string;
}

const TRACEPARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/u;
const TRACEPARENT_LENGTH = 55;
const NO_TRACE = "0".repeat(32);
const NO_SPAN = "0".repeat(16);
const INVALID_VERSION = "ff";
/** All that a sender may count on being passed on (section 3.3.1.5); what is longer is left out. */
const MAX_STATE_LENGTH = 512;
const MAX_MEMBERS = 32;
const STATE_KEY = /^(?:[a-z][_0-9a-z\-*/]{0,255}|[a-z0-9][_0-9a-z\-*/]{0,240}@[a-z][_0-9a-z\-*/]{0,13})$/u;
const STATE_VALUE =
  /^[\u0020-\u002b\u002d-\u003c\u003e-\u007e]{0,255}[\u0021-\u002b\u002d-\u003c\u003e-\u007e]$/u;

/**
 * The context that headers carry; null where there is none or it is malformed, which is no error (section 3.2.2.2). A
 * `tracestate` that is malformed is left out alone.
 */
export function readTraceContext(
  headers: Readonly<Record<string, string | readonly string[] | undefined>>,
): TraceContext | null {
  const { traceparent, tracestate } = headers;
  if (typeof traceparent !== "string") return null;
  const parsed = TRACEPARENT.exec(traceparent.slice(0, TRACEPARENT_LENGTH));
  if (parsed === null) return null;
  const [, version, trace, parent, flags] = parsed;
  const rest = traceparent.slice(TRACEPARENT_LENGTH);
  // Later versions may say more behind another dash.
  if (version === INVALID_VERSION || (rest !== "" && (version === "00" || !rest.startsWith("-"))))
    return null;
  if (trace === NO_TRACE || parent === NO_SPAN) return null;
  const state = readState(tracestate);
  return { traceparent: `00-${trace}-${parent}-${flags}`, ...(state === null ? {} : { tracestate: state }) };
}

function readState(given: string | readonly string[] | undefined): string | null {
  const text = typeof given === "string" ? given : (given ?? []).join(",");
  if (text === "" || text.length > MAX_STATE_LENGTH) return null;
  const keys = new Set<string>();
  const members = text
    .split(",")
    .map((member) => member.replaceAll("\t", " ").trim())
    .filter((member) => member !== "");
  if (members.length === 0 || members.length > MAX_MEMBERS) return null;
  for (const member of members) {
    const cut = member.indexOf("=");
    const key = member.slice(0, Math.max(0, cut));
    if (!STATE_KEY.test(key) || !STATE_VALUE.test(member.slice(cut + 1)) || keys.has(key)) return null;
    keys.add(key);
  }
  return members.join(",");
}
