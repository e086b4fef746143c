import { createCache } from "@platform/engine/base/cache";
import type { Cache } from "@platform/engine/base/cache";
import { readMonotonic } from "@platform/engine/base/monotonic";
import { SECOND } from "@platform/engine/base/time";
import type { RateAllowance, RateBucketStore } from "../store/rate-buckets.ts";

/** How a subject stands after a request was counted. Numbers of requests, and whole seconds. */
export interface Standing {
  /** 0: it goes ahead; else after how many seconds the next one may. */
  readonly refusedSeconds: number;
  /** Requests that are left, as far as this gateway knows. */
  readonly left: number;
  /** Until all of them are there again. */
  readonly fullSeconds: number;
}

/** Counts requests, such as starts and changes, against buckets that all gateways share. */
export interface RateReserve {
  /**
   * Counts a request. Returns without a promise while tokens are reserved; waits for a reservation only where the last ones were used
   * within a second.
   *
   * @throws Problem UNAVAILABLE
   */
  readonly take: (allowance: RateAllowance) => Standing | Promise<Standing>;
  /** How the subject stands before another request; nothing is counted. @throws Problem UNAVAILABLE */
  readonly peek: (allowance: RateAllowance) => Promise<Standing>;
  /** Counts so many requests at once, as far as there are tokens for them. @throws Problem UNAVAILABLE: none was counted */
  readonly takeUpTo: (
    allowance: RateAllowance,
    count: number,
  ) => Promise<{ readonly granted: number; readonly standing: Standing }>;
  /** Counts so much more of a request that went ahead, whose cost was not known before; what is not there is owed by the next ones. */
  readonly charge: (allowance: RateAllowance, tokens: number) => void;
  /** Takes back the last request of a subject, or so many, which were refused for another reason. */
  readonly giveBack: (allowance: RateAllowance, count?: number) => void;
}

/** What a reserve works with. */
export interface RateReserveOptions {
  readonly store: RateBucketStore;
  /** Milliseconds since any fixed moment; default: the monotonic clock. */
  readonly now?: () => number;
  /** At least 0, below 1: parts gateways that wait for the same bucket. Default: at random. */
  readonly draw?: () => number;
}

/** What this gateway holds of a subject's bucket. Times by `now`. */
interface Holding {
  /** Reserved and not used. */
  left: number;
  /** Used, and not yet taken from the bucket; below zero: to be put back. */
  owed: number;
  /** Of the bucket, at `askedAt`. */
  level: number;
  /** When the last reservation was answered. */
  askedAt: number;
  /** Nothing is reserved before. */
  emptyUntil: number;
  waiting: number;
  asking: Promise<void> | null;
}

/** A reservation is what the subject may do in this time: several gateways share a bucket in such parts. */
const BATCH_MS = 100;
/** After so long without a reservation the bucket has most likely been refilled. */
const RESTED_MS = 1 * SECOND;
/** Beyond it, the longest unused subjects are forgotten. */
const MAX_SUBJECTS = 20_000;

/**
 * The part of each bucket that this gateway has reserved. The limit holds for all gateways together but for one request of each
 * after a second without any: that one does not wait for the database, and is paid with the next reservation. A gateway that is
 * killed takes with it what it had reserved.
 */
export function createRateReserve(options: RateReserveOptions): RateReserve {
  const { store, now = readMonotonic, draw = Math.random } = options;
  const tools = { store, now, draw, holdings: createCache<Holding>({ maxEntries: MAX_SUBJECTS, now }) };
  return {
    take: (allowance) => {
      const at = now();
      const holding = tools.holdings.peek(allowance.subject) ?? createHolding(allowance);
      if (canGoAhead(holding, at)) return goAhead(tools, holding, allowance);
      if (holding.left >= 1) return use(tools, holding, allowance);
      return at < holding.emptyUntil ? refuse(tools, holding, allowance) : settle(tools, holding, allowance);
    },
    peek: (allowance) => peek(tools, allowance),
    charge: ({ subject }, tokens) => {
      const holding = tools.holdings.peek(subject);
      if (holding !== undefined) holding.left -= tokens;
    },
    giveBack: ({ subject }, count = 1) => {
      const holding = tools.holdings.peek(subject);
      if (holding !== undefined) holding.left += count;
    },
    takeUpTo: (allowance, count) => settleMany(tools, allowance, count),
  };
}

interface Tools extends Required<RateReserveOptions> {
  readonly holdings: Cache<Holding>;
}

function canGoAhead({ askedAt, emptyUntil, asking, owed }: Holding, at: number): boolean {
  return at - askedAt >= RESTED_MS && at >= emptyUntil && asking === null && owed === 0;
}

/** Lets a request through that is paid with the reservation that it begins. */
function goAhead(tools: Tools, holding: Holding, allowance: RateAllowance): Standing {
  const standing = describe({ ...holding, owed: 1 }, allowance, tools.now());
  // What is left of the last reservation goes back.
  holding.owed = 1 - holding.left;
  holding.left = 0;
  tools.holdings.set(allowance.subject, holding);
  // If it fails, the next request pays for both, and is told the error.
  ask(tools, holding, allowance).catch(() => undefined);
  return standing;
}

function use({ now }: Tools, holding: Holding, allowance: RateAllowance): Standing {
  holding.left -= 1;
  return describe(holding, allowance, now());
}

function refuse({ now }: Tools, holding: Holding, allowance: RateAllowance): Standing {
  const at = now();
  const refusedSeconds = Math.max(1, Math.ceil((holding.emptyUntil - at) / SECOND));
  return { ...describe(holding, allowance, at), refusedSeconds, left: 0 };
}

async function settle(tools: Tools, holding: Holding, allowance: RateAllowance): Promise<Standing> {
  holding.waiting += 1;
  try {
    while (holding.left < 1 && tools.now() >= holding.emptyUntil) await ask(tools, holding, allowance);
    if (holding.left >= 1) return use(tools, holding, allowance);
  } finally {
    holding.waiting -= 1;
  }
  return refuse(tools, holding, allowance);
}

/** Reserves until there is enough, or the bucket has no more. */
async function settleMany(tools: Tools, allowance: RateAllowance, count: number) {
  const holding = tools.holdings.peek(allowance.subject) ?? createHolding(allowance);
  holding.waiting += count;
  try {
    while (holding.left < count && tools.now() >= holding.emptyUntil) await ask(tools, holding, allowance);
  } finally {
    holding.waiting -= count;
  }
  const granted = Math.max(0, Math.min(count, Math.floor(holding.left)));
  holding.left -= granted;
  const standing =
    granted < count ? refuse(tools, holding, allowance) : describe(holding, allowance, tools.now());
  return { granted, standing };
}

/** One reservation at a time for each subject. */
function ask(tools: Tools, holding: Holding, allowance: RateAllowance): Promise<void> {
  return (holding.asking ??= reserve(tools, holding, allowance));
}

async function reserve(
  { store, holdings, now, draw }: Tools,
  holding: Holding,
  allowance: RateAllowance,
): Promise<void> {
  const { owed } = holding;
  const wanted = Math.ceil(Math.min(allowance.burst, batchOf(allowance) + holding.waiting));
  holding.owed = 0;
  try {
    const { granted, level } = await store.withdraw(allowance, { owed, wanted });
    holdings.set(allowance.subject, holding);
    Object.assign(holding, { left: holding.left + granted, level, askedAt: now() });
    if (granted < wanted) holding.emptyUntil = now() + computeRest(allowance, level, draw());
  } catch (error) {
    holding.owed += owed;
    throw error;
  } finally {
    holding.asking = null;
  }
}

/** As `take` would decide, without a reservation. */
async function peek(tools: Tools, allowance: RateAllowance): Promise<Standing> {
  const at = tools.now();
  const holding = tools.holdings.peek(allowance.subject) ?? createHolding(allowance);
  if (canGoAhead(holding, at) || holding.left >= 1) return describe(holding, allowance, at);
  if (at < holding.emptyUntil) return refuse(tools, holding, allowance);
  const level = (await tools.store.read(allowance)) - holding.owed + holding.left;
  const { burst, perSecond } = allowance;
  return {
    refusedSeconds: level >= 1 ? 0 : Math.max(1, Math.ceil((1 - level) / perSecond)),
    left: Math.max(0, Math.floor(level)),
    fullSeconds: Math.ceil((burst - level) / perSecond),
  };
}

function createHolding({ burst }: RateAllowance): Holding {
  return { left: 0, owed: 0, level: burst, askedAt: -Infinity, emptyUntil: 0, waiting: 0, asking: null };
}

/** Tokens of one reservation. */
function batchOf({ burst, perSecond }: RateAllowance): number {
  return Math.min(Math.ceil(burst / 4), Math.max(1, Math.ceil((perSecond * BATCH_MS) / SECOND)));
}

/** Milliseconds until the bucket has a batch again, and a share of the time of a batch, so that no gateway is always the first. */
function computeRest(allowance: RateAllowance, level: number, share: number): number {
  const missing = Math.max(0, batchOf(allowance) - level);
  return (missing / allowance.perSecond) * SECOND + share * BATCH_MS;
}

function describe(holding: Holding, { burst, perSecond }: RateAllowance, at: number): Standing {
  const refilled = Math.max(0, (at - holding.askedAt) / SECOND) * perSecond;
  const left = Math.max(0, Math.min(burst, holding.left + holding.level + refilled) - holding.owed);
  return { refusedSeconds: 0, left: Math.floor(left), fullSeconds: Math.ceil((burst - left) / perSecond) };
}
