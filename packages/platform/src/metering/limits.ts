import type { FastifyReply } from "fastify";
import { Problem } from "@platform/contract/problems";
import type { RateAllowance } from "../store/rate-buckets.ts";
import type { RateReserve, Standing } from "./rate-reserve.ts";

/** Headers of an answer, by their names in lower case. */
export type LimitHeaders = Readonly<Record<string, string>>;

/** Puts what is left on the answer; refusals of later stages have the headers as well. Null: nothing was counted. */
export function addLimitHeaders(
  reply: FastifyReply,
  headers: LimitHeaders | Promise<LimitHeaders> | null,
): void | Promise<void> {
  if (headers instanceof Promise) return headers.then((later) => void reply.headers(later));
  if (headers !== null) reply.headers(headers);
  return undefined;
}

/** A limit as callers know it. */
export interface Limit {
  readonly name: string;
  /** Why a request beyond it is refused, as a sentence without its period. */
  readonly refusal: string;
  readonly allowance: RateAllowance;
}

/** So many seconds of what is allowed in the long run can be made at once. */
const BURST_SECONDS = 10;

/** What is allowed to a subject in the long run, and as much at once as in ten seconds. */
export function allowPerSecond(subject: string, perSecond: number): RateAllowance {
  return { subject, burst: Math.max(1, Math.ceil(perSecond * BURST_SECONDS)), perSecond };
}

/**
 * Counts one request against all of the limits, in this order; the answer's headers say what is left.
 *
 * @throws Problem RATE_LIMITED, UNAVAILABLE
 */
export function takeFromAll(
  reserve: RateReserve,
  limits: readonly Limit[],
  taken: readonly Standing[] = [],
): LimitHeaders | Promise<LimitHeaders> {
  const limit = limits[taken.length];
  if (limit === undefined) return describe(limits, taken);
  const check = (standing: Standing) => {
    const standings = [...taken, standing];
    if (standing.refusedSeconds === 0) return takeFromAll(reserve, limits, standings);
    giveBackToAll(reserve, limits.slice(0, taken.length));
    throw createProblem(limit, standing.refusedSeconds, describe(limits, standings));
  };
  const standing = reserve.take(limit.allowance);
  return standing instanceof Promise ? standing.then(check) : check(standing);
}

/**
 * Whether `takeFromAll` would let a request through; nothing is counted. The answer's headers say what is left.
 *
 * @throws Problem RATE_LIMITED, UNAVAILABLE
 */
async function peekAtAll(reserve: RateReserve, limits: readonly Limit[]): Promise<LimitHeaders> {
  const standings: Standing[] = [];
  for (const limit of limits) {
    const standing = await reserve.peek(limit.allowance);
    standings.push(standing);
    if (standing.refusedSeconds > 0)
      throw createProblem(limit, standing.refusedSeconds, describe(limits, standings));
  }
  return describe(limits, standings);
}

/**
 * Counts a rehearsal of a start that these limits are on: there may be as many rehearsals as starts, and they take nothing from them.
 * Returns what is left of starts.
 *
 * @throws Problem RATE_LIMITED, UNAVAILABLE
 */
export async function rehearseLimits(reserve: RateReserve, limits: readonly Limit[]): Promise<LimitHeaders> {
  await takeFromAll(reserve, limits.map(toRehearsals));
  return peekAtAll(reserve, limits);
}

/**
 * Counts so many rehearsals more of a request that was counted as one, as many as each limit has left; of these, as many are granted as there are starts
 * left besides the one that the request itself would be.
 *
 * @throws Problem UNAVAILABLE
 */
export async function rehearseUpTo(
  reserve: RateReserve,
  limits: readonly Limit[],
  count: number,
): Promise<Granted> {
  let { granted, refusal } = await takeUpTo(reserve, limits.map(toRehearsals), count);
  for (const limit of limits) {
    const { left } = await reserve.peek(limit.allowance);
    if (left - 1 >= granted) continue;
    granted = Math.max(0, left - 1);
    refusal = createProblem(limit, Math.max(1, Math.ceil(1 / limit.allowance.perSecond)), {});
  }
  return { granted, refusal };
}

function toRehearsals({ name, refusal, allowance }: Limit): Limit {
  return {
    name: `rehearsals-${name}`,
    refusal: `${refusal} (rehearsals are counted apart, by the same numbers)`,
    allowance: { ...allowance, subject: `rehearsals:${allowance.subject}` },
  };
}

/** How many of several requests may go ahead. */
export interface Granted {
  readonly granted: number;
  /** Why the others may not; null: all may. */
  readonly refusal: Problem | null;
}

/**
 * Counts several requests at once against all of the limits: as many as each of them has left.
 *
 * @throws Problem UNAVAILABLE: none was counted
 */
export async function takeUpTo(
  reserve: RateReserve,
  limits: readonly Limit[],
  count: number,
): Promise<Granted> {
  const standings: Standing[] = [];
  let granted = count;
  let refusal: Problem | null = null;
  const giveBack = (tokens: number) => {
    for (const { allowance } of limits.slice(0, standings.length)) reserve.giveBack(allowance, tokens);
  };
  for (const limit of limits) {
    if (granted === 0) break;
    const taken = await reserve.takeUpTo(limit.allowance, granted).catch((error: unknown) => {
      giveBack(granted);
      throw error;
    });
    giveBack(granted - taken.granted);
    standings.push(taken.standing);
    if (taken.granted < granted)
      refusal = createProblem(limit, taken.standing.refusedSeconds, describe(limits, standings));
    granted = taken.granted;
  }
  return { granted, refusal };
}

/** Takes back what `takeFromAll` has counted of the last request. */
export function giveBackToAll(reserve: RateReserve, limits: readonly Limit[]): void {
  for (const { allowance } of limits) reserve.giveBack(allowance);
}

function createProblem({ refusal }: Limit, seconds: number, headers: LimitHeaders): Problem {
  return new Problem("RATE_LIMITED", `${refusal}. Try again in ${seconds} s.`, {
    headers: { ...headers, "retry-after": String(seconds) },
  });
}

/** The headers of draft-ietf-httpapi-ratelimit-headers, of the limits that were counted. */
function describe(limits: readonly Limit[], standings: readonly Standing[]): LimitHeaders {
  const policies: string[] = [];
  const states: string[] = [];
  standings.forEach(({ left, fullSeconds, refusedSeconds }, index) => {
    const limit = limits[index];
    if (limit === undefined) return;
    const { burst, perSecond } = limit.allowance;
    policies.push(`"${limit.name}";q=${burst};w=${Math.ceil(burst / perSecond)}`);
    states.push(`"${limit.name}";r=${left};t=${refusedSeconds || fullSeconds}`);
  });
  return { "ratelimit-policy": policies.join(", "), ratelimit: states.join(", ") };
}
