import { readMonotonic } from "../base/monotonic.ts";
import type { ClaimKey, ExecutionStore } from "../store/execution-store.ts";

const SECOND = 1_000;
/** Renewals in one lease: two may fail before it is in danger. */
const RENEWALS_PER_LEASE = 3;
/** Looks in one lease at what is late, and at the clocks. */
const LOOKS_PER_LEASE = 10;
/** A lease that could not be renewed is given up when so much of it is over, before anybody else may settle it. */
const GIVE_UP_AT = 0.8;
/** So much more of the time of day than of our own clock has passed between two looks: the machine slept, or its clock was set. */
const JUMP_MS = 2 * SECOND;

/** Milliseconds. `monotonic` counts our own deadlines; `wall` only shows when it jumps against it. */
export interface Clocks {
  readonly monotonic: () => number;
  readonly wall: () => number;
}

export interface LeaseKeeperOptions {
  readonly store: Pick<ExecutionStore, "renew">;
  readonly workerId: string;
  readonly leaseSeconds: number;
  readonly onCancelled: (id: string) => void;
  /** The claim is no longer ours, or will not be in a moment. */
  readonly onLost: (id: string) => void;
  readonly onError: (error: unknown) => void;
  /** Nothing may run past this time (`monotonic` milliseconds); null: nothing is held. For a watchdog outside the event loop. */
  readonly onDeadline: (giveUpAt: number | null) => void;
  readonly clocks?: Clocks;
}

/**
 * Keeps the leases of what this worker runs. Times are taken before the store is asked, so that ours end before the store's.
 *
 * Our deadlines count on a monotonic clock: a time of day that is set moves none of them. It stands still while the machine is
 * suspended, when the store's clock goes on; so a jump of the time of day has everything renewed at once, and the store says what is lost.
 */
export interface LeaseKeeper {
  /** `since`: `monotonic` milliseconds, from before the claim was asked for. Returns how to let it go. */
  readonly hold: (claim: ClaimKey, since: number) => () => void;
  readonly close: () => void;
}

interface Held {
  readonly claim: ClaimKey;
  since: number;
}

const SYSTEM_CLOCKS: Clocks = { monotonic: readMonotonic, wall: Date.now };

export function createLeaseKeeper(options: LeaseKeeperOptions): LeaseKeeper {
  const { clocks = SYSTEM_CLOCKS } = options;
  const held = new Map<string, Held>();
  const leaseMs = options.leaseSeconds * SECOND;

  const tellDeadline = () => {
    let oldest = Infinity;
    for (const { since } of held.values()) oldest = Math.min(oldest, since);
    options.onDeadline(oldest === Infinity ? null : oldest + leaseMs * GIVE_UP_AT);
  };
  const isHeld = (entry: Held) => held.get(entry.claim.id) === entry;
  const lose = ({ claim }: Held) => {
    held.delete(claim.id);
    options.onLost(claim.id);
  };
  const giveUpLate = () => {
    const limit = clocks.monotonic() - leaseMs * GIVE_UP_AT;
    for (const entry of held.values()) if (entry.since < limit) lose(entry);
    tellDeadline();
  };
  const renew = async () => {
    // After a pause of this process: what is late is ended first, and not renewed for one more lease.
    giveUpLate();
    if (held.size === 0) return;
    const since = clocks.monotonic();
    const asked = [...held.values()];
    const { lost, cancelled, busy } = await options.store.renew(
      options.workerId,
      asked.map(({ claim }) => claim),
      options.leaseSeconds,
    );
    // A renewal that was asked for later may have been answered before.
    const gone = new Set(lost);
    const unchanged = new Set(busy);
    for (const entry of asked.filter(isHeld)) {
      if (unchanged.has(entry.claim.id)) continue;
      entry.since = Math.max(entry.since, since);
      if (gone.has(entry.claim.id)) lose(entry);
    }
    for (const id of cancelled) if (held.has(id)) options.onCancelled(id);
    tellDeadline();
  };
  const startRenewal = () => void renew().catch(options.onError);

  let isEarlyRenewalDue = false;
  /** Once for all that are held in this turn, and when their owner knows them. */
  const renewEarly = () => {
    if (isEarlyRenewalDue) return;
    isEarlyRenewalDue = true;
    queueMicrotask(() => {
      isEarlyRenewalDue = false;
      startRenewal();
    });
  };

  let drift = clocks.wall() - clocks.monotonic();
  const look = () => {
    giveUpLate();
    const before = drift;
    drift = clocks.wall() - clocks.monotonic();
    if (Math.abs(drift - before) > JUMP_MS) startRenewal();
  };
  const timers = [
    setInterval(startRenewal, leaseMs / RENEWALS_PER_LEASE),
    setInterval(look, leaseMs / LOOKS_PER_LEASE),
  ];

  return {
    hold: (claim, since) => {
      const entry: Held = { claim, since };
      held.set(claim.id, entry);
      if (held.size === 1) tellDeadline();
      // The answer to the claim took long: the next renewal may come after it would be given up.
      if (clocks.monotonic() - since > leaseMs / RENEWALS_PER_LEASE) renewEarly();
      return () => {
        if (!isHeld(entry)) return;
        held.delete(claim.id);
        if (held.size === 0) tellDeadline();
      };
    },
    close: () => {
      for (const timer of timers) clearInterval(timer);
      options.onDeadline(null);
    },
  };
}
