import type { ClaimKey, ExecutionStore } from "./ports.ts";

const SECOND = 1_000;
/** Renewals in one lease: two may fail before it is in danger. */
const RENEWALS_PER_LEASE = 3;
/** A lease that could not be renewed is given up when so much of it is over, before anybody else may settle it. */
const GIVE_UP_AT = 0.8;

export interface LeaseKeeperOptions {
  readonly store: Pick<ExecutionStore, "renew">;
  readonly workerId: string;
  readonly leaseSeconds: number;
  readonly onCancelled: (id: string) => void;
  /** The claim is no longer ours, or will not be in a moment. */
  readonly onLost: (id: string) => void;
  readonly onError: (error: unknown) => void;
  /** Nothing may run past this time (milliseconds since the epoch); null: nothing is held. For a watchdog outside the event loop. */
  readonly onDeadline: (giveUpAt: number | null) => void;
}

/** Keeps the leases of what this worker runs. Times are taken before the store is asked, so that ours end before the store's. */
export interface LeaseKeeper {
  readonly hold: (claim: ClaimKey, since: number) => void;
  readonly release: (id: string) => void;
  readonly close: () => void;
}

export function createLeaseKeeper(options: LeaseKeeperOptions): LeaseKeeper {
  const held = new Map<string, { readonly claim: ClaimKey; since: number }>();
  const leaseMs = options.leaseSeconds * SECOND;

  const tellDeadline = () => {
    let oldest = Infinity;
    for (const { since } of held.values()) oldest = Math.min(oldest, since);
    options.onDeadline(oldest === Infinity ? null : oldest + leaseMs * GIVE_UP_AT);
  };
  const lose = (id: string) => {
    held.delete(id);
    options.onLost(id);
  };
  const renew = async () => {
    if (held.size === 0) return;
    const since = Date.now();
    const asked = [...held.values()];
    const { lost, cancelled } = await options.store.renew(
      options.workerId,
      asked.map(({ claim }) => claim),
      options.leaseSeconds,
    );
    for (const entry of asked) entry.since = since;
    for (const id of lost) if (held.has(id)) lose(id);
    for (const id of cancelled) options.onCancelled(id);
    tellDeadline();
  };
  const giveUpLate = () => {
    const limit = Date.now() - leaseMs * GIVE_UP_AT;
    for (const [id, { since }] of held) if (since < limit) lose(id);
    tellDeadline();
  };
  const renewTimer = setInterval(() => void renew().catch(options.onError), leaseMs / RENEWALS_PER_LEASE);
  const giveUpTimer = setInterval(giveUpLate, leaseMs / 10);

  return {
    hold: (claim, since) => {
      held.set(claim.id, { claim, since });
      if (held.size === 1) tellDeadline();
    },
    release: (id) => {
      held.delete(id);
      if (held.size === 0) tellDeadline();
    },
    close: () => {
      clearInterval(renewTimer);
      clearInterval(giveUpTimer);
      options.onDeadline(null);
    },
  };
}
