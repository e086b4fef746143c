import { FAILURES } from "@platform/contract/problems";
import type { ProblemCode } from "@platform/contract/problems";
import { HOUR, SECOND } from "@platform/engine/base/time";
import { createUsageError } from "../base/errors.ts";

/** What a fault does, and to what: a request, or an execution. */
type FaultKind =
  | { readonly to: "request"; readonly does: "refuse"; readonly code: ProblemCode; readonly only?: "start" }
  | { readonly to: "request"; readonly does: "delay" }
  | { readonly to: "request"; readonly does: "drop answer"; readonly only: "start" }
  | { readonly to: "execution"; readonly does: "delay" }
  | { readonly to: "execution"; readonly does: "expire" }
  | { readonly to: "execution"; readonly does: "end"; readonly code: keyof typeof FAILURES };

/** One line of the list of faults. */
export interface FaultRule {
  readonly kind: FaultKind;
  /** A phrase for the help. */
  readonly says: string;
  /** How long it takes, unless the user says it. Missing: it takes no time. */
  readonly durationMs?: number;
}

/** A fault that was asked for. */
export interface Fault {
  readonly name: string;
  readonly kind: FaultKind;
  /** How many of the requests or executions it befalls, from 0 to 1. */
  readonly share: number;
  readonly durationMs: number;
}

const REQUEST_FAULTS = {
  "429": {
    kind: { to: "request", does: "refuse", code: "RATE_LIMITED", only: "start" },
    says: "a start is refused with 429 RATE_LIMITED and Retry-After",
  },
  "quota-exceeded": {
    kind: { to: "request", does: "refuse", code: "QUOTA_EXCEEDED", only: "start" },
    says: "a start is refused with 429 QUOTA_EXCEEDED",
  },
  unavailable: {
    kind: { to: "request", does: "refuse", code: "UNAVAILABLE" },
    says: "a request is refused with 503 UNAVAILABLE and Retry-After",
  },
  unauthenticated: {
    kind: { to: "request", does: "refuse", code: "UNAUTHENTICATED" },
    says: "a request is refused with 401, as if its access token had expired",
  },
  "internal-error": {
    kind: { to: "request", does: "refuse", code: "INTERNAL_ERROR" },
    says: "a request is answered 500 INTERNAL_ERROR",
  },
  "slow-answer": {
    kind: { to: "request", does: "delay" },
    says: "a request is handled later",
    durationMs: 2 * SECOND,
  },
  "lost-answer": {
    kind: { to: "request", does: "drop answer", only: "start" },
    says: "a start is accepted, and the connection breaks before its answer",
  },
} as const satisfies Readonly<Record<string, FaultRule>>;

const EXECUTION_FAULTS = {
  "slow-start": {
    kind: { to: "execution", does: "delay" },
    says: "an execution stays PENDING for longer",
    durationMs: 2 * SECOND,
  },
  "result-expired": {
    kind: { to: "execution", does: "expire" },
    says: "result, log and receipt of an ended execution are 410 RESULT_EXPIRED",
  },
} as const satisfies Readonly<Record<string, FaultRule>>;

/** Every failure of an execution by its code: `worker-lost` for WORKER_LOST. */
const END_FAULTS: Readonly<Record<string, FaultRule>> = Object.fromEntries(
  (Object.keys(FAILURES) as readonly (keyof typeof FAILURES)[]).map((code) => [
    code.toLowerCase().replaceAll("_", "-"),
    {
      kind: { to: "execution", does: "end", code },
      says: `the code runs, and the execution ends ${code === "WORKER_LOST" ? "UNKNOWN" : "FAILED"} with ${code}`,
    },
  ]),
);

/** All faults by name, in the order of the help. */
export const FAULTS: Readonly<Record<string, FaultRule>> = {
  ...REQUEST_FAULTS,
  ...EXECUTION_FAULTS,
  ...END_FAULTS,
};

/** What may follow a name. */
const ITEM = /^(?:=(\d+(?:\.\d+)?)(ms|s))?(?:@(\d+(?:\.\d+)?)%)?$/;
const LONGEST_MS = HOUR;

/**
 * Reads `worker-lost@30%,slow-start=2s`: names, each with a duration where it has one, and how many it befalls (default: all).
 *
 * @throws UserError USAGE
 */
export function parseFaults(text: string): readonly Fault[] {
  const faults = text.split(",").map((item) => parseFault(item.trim()));
  const names = faults.map(({ name }) => name);
  const twice = names.find((name, index) => names.indexOf(name) < index);
  if (twice !== undefined) throw createUsageError(`--fault names ${twice} twice.`);
  return faults;
}

function parseFault(item: string): Fault {
  const [name = ""] = item.split(/[=@]/, 1);
  const rule = Object.hasOwn(FAULTS, name) ? FAULTS[name] : undefined;
  if (rule === undefined)
    throw createUsageError(
      `--fault: '${name.slice(0, 100)}' is not known.`,
      `Known are ${Object.keys(FAULTS).join(", ")}. Example: --fault worker-lost@30%,slow-start=2s`,
    );
  const [match, number, unit, percent] = ITEM.exec(item.slice(name.length)) ?? [];
  if (match === undefined)
    throw createUsageError(
      `--fault: '${item.slice(name.length, 100)}' cannot follow ${name}.`,
      describeForm(name, rule),
    );
  if (number !== undefined && rule.durationMs === undefined)
    throw createUsageError(`--fault: ${name} has no duration.`, describeForm(name, rule));
  const durationMs = readDuration(number, unit) ?? rule.durationMs ?? 0;
  if (durationMs > LONGEST_MS) throw createUsageError(`--fault: ${name} may take an hour at most.`);
  return { name, kind: rule.kind, share: readShare(name, percent), durationMs };
}

function describeForm(name: string, { durationMs }: FaultRule): string {
  const share = `a share as in ${name}@30% (default: all)`;
  if (durationMs === undefined) return `${name} takes ${share}.`;
  return `${name} takes a duration in seconds or milliseconds, as in ${name}=2s or ${name}=500ms, and ${share}.`;
}

function readDuration(number: string | undefined, unit: string | undefined): number | undefined {
  return number === undefined ? undefined : Number(number) * (unit === "s" ? SECOND : 1);
}

function readShare(name: string, percent = "100"): number {
  const share = Number(percent) / 100;
  if (share > 0 && share <= 1) return share;
  throw createUsageError(`--fault: ${name} befalls ${percent}%; it must be above 0% and at most 100%.`);
}
