import { Type } from "typebox";
import type { Static } from "typebox";
import { FAILURES } from "./problems.ts";
import { StringEnum, Timestamp } from "./schemas.ts";

/** An execution is started at most so often, whatever its service says. */
export const MAX_ATTEMPTS = 10;

/** How often an execution is started again whose worker was lost, where the policy says that it is and no number. */
export const DEFAULT_RETRIES = 2;

/** The last attempt of an execution is decided on within so many hours after its first began. */
export const RETRY_HOURS = 24;

/** The longest pause before an attempt, and where none is named. */
const MAX_PAUSE_SECONDS = 3_600;

/** Never retried, also where a policy names them: nobody wants the execution any more, or the platform has tried for long enough. */
const NEVER_RETRIED = ["CANCELLED", "NOT_STARTED", "START_DEADLINE_EXCEEDED"] as const;

/** Codes of the platform that are retried where a policy names none: what may be another time is. */
const RETRIED_UNLESS_NAMED: readonly string[] = ["EXECUTION_ERROR", "CONNECTION_ERROR"];

/** When an execution of a service is started again. What is missing is never a reason. */
export const RetryPolicySchema = Type.Object(
  {
    onLost: Type.Optional(
      StringEnum(["unknown", "retry"], {
        description:
          "When the worker is lost while user code may have been running. unknown (default): the execution ends UNKNOWN. retry: it is started again; its code may have run, as far as it came, before",
      }),
    ),
    onError: Type.Optional(
      Type.Object(
        {
          max: Type.Integer({
            minimum: 1,
            maximum: MAX_ATTEMPTS - 1,
            description: "How often it is started again at most, counting lost workers too",
          }),
          backoffSeconds: Type.Number({
            minimum: 0,
            maximum: MAX_PAUSE_SECONDS,
            description:
              "Pause before the second attempt; each later one is twice as long, and each is shortened by up to a quarter, by chance",
          }),
          maxBackoffSeconds: Type.Optional(
            Type.Number({
              minimum: 0,
              maximum: MAX_PAUSE_SECONDS,
              description: `The longest pause; default ${MAX_PAUSE_SECONDS}`,
            }),
          ),
          codes: Type.Optional(
            Type.Array(
              Type.String({
                minLength: 1,
                maxLength: 100,
                pattern: `^(?!(${NEVER_RETRIED.join("|")})$)`,
              }),
              {
                minItems: 1,
                maxItems: 20,
                description: `With which codes a failure is followed by another attempt; never ${NEVER_RETRIED.join(", ")}. Default: ${RETRIED_UNLESS_NAMED.join(", ")}, and codes that the service chose itself`,
              },
            ),
          ),
        },
        {
          additionalProperties: false,
          title: "RetryOnError",
          description: "When the execution has failed; default: it ends FAILED",
        },
      ),
    ),
  },
  {
    additionalProperties: false,
    title: "RetryPolicy",
    description: `When an execution is started again. It has at most ${MAX_ATTEMPTS} attempts, the last within ${RETRY_HOURS} hours of the first`,
  },
);

/** When an execution of a service is started again. */
export type RetryPolicy = Static<typeof RetryPolicySchema>;

/**
 * What an execution is stored with. `resumes`: it is one of an external backend. When its worker is lost, another attempt takes up what it has begun
 * elsewhere; nothing ends it before an attempt has looked after that.
 */
export interface StoredRetries extends RetryPolicy {
  readonly resumes?: true;
}

/** How many attempts an execution has at most. */
export function countAttempts({ onLost, onError }: RetryPolicy): number {
  if (onError !== undefined) return Math.min(MAX_ATTEMPTS, 1 + onError.max);
  return onLost === "retry" ? 1 + DEFAULT_RETRIES : 1;
}

/** Whether a failure with this code is followed by another attempt, if one is left. */
export function isRetried({ onLost, onError }: RetryPolicy, code: string): boolean {
  if (code === "WORKER_LOST") return onLost === "retry";
  if (onError === undefined || NEVER_RETRIED.some((never) => never === code)) return false;
  return (
    onError.codes?.includes(code) ?? (RETRIED_UNLESS_NAMED.includes(code) || !Object.hasOwn(FAILURES, code))
  );
}

/** The longest pause before the attempt after this one, the first being 1; seconds. */
export function getBackoffSeconds({ onError }: RetryPolicy, attempt: number): number {
  if (onError === undefined) return 0;
  const { backoffSeconds, maxBackoffSeconds = MAX_PAUSE_SECONDS } = onError;
  return Math.min(maxBackoffSeconds, MAX_PAUSE_SECONDS, backoffSeconds * 2 ** (attempt - 1));
}

/** One attempt of an execution that has had more than one. */
export const AttemptSchema = Type.Object(
  {
    attempt: Type.Integer({ minimum: 1, maximum: MAX_ATTEMPTS, description: "Its number; the first is 1" }),
    startedAt: Timestamp("When its user code may have begun"),
    endedAt: Type.Optional(Timestamp("When it ended, or was found to be lost; absent: it runs")),
    code: Type.Optional(Type.String({ description: "Why it did not succeed" })),
    detail: Type.Optional(
      Type.String({
        description: "Explanation of `code` for people, shortened; absent of the last: the result has it",
      }),
    ),
  },
  { title: "Attempt", description: "One attempt of an execution" },
);

/** One attempt of an execution, as on the wire. */
export type Attempt = Static<typeof AttemptSchema>;
