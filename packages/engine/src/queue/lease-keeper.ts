import { SECOND } from "../base/time.ts";
import { readMonotonic } from "../base/monotonic.ts";
import type { Renewal } from "../store/execution-store.ts";

/*
 * Renews the leases of the items that this process has taken from a queue: executions, builds.
 *
 * All are renewed together, three times per lease. An item that could not be renewed is given up after 0.8 of its lease: its owner ends the
 * work before another process can take or settle it. Times are read before the store is called, so that local deadlines are before the store's.
 *
 * Local deadlines use a monotonic clock, so setting the time of day does not move them. It stops while the machine is suspended,
 * while the store's clock advances; so after a jump of the time of day everything is renewed at once, and the store reports what is lost.
 */

/** Renewals in one lease: two may fail before it is in danger. */
const RENEWALS_PER_LEASE = 3;
/** Checks per lease for expired deadlines and for jumps of the clock. */
const LOOKS_PER_LEASE = 10;
/** Fraction of a lease after which it is given up if it could not be renewed. */
const GIVE_UP_AT = 0.8;
/** A jump in milliseconds: the time of day advanced this much more than the monotonic clock; the machine was suspended, or its clock was set. */
const JUMP_MS = 2 * SECOND;

/** Milliseconds. `monotonic` is used for deadlines; `wall` only to detect jumps. */
export interface Clocks {
  readonly monotonic: () => number;
  readonly wall: () => number;
}

/** An item that is held by a lease; its key in the store may have more parts. */
export interface Leased {
  readonly id: string;
}

/** How leases are renewed, and how their holder learns what becomes of them. */
export interface LeaseKeeperOptions<Item extends Leased> {
  /** Extends the leases in the store. Called with all items that are held. */
  readonly renew: (items: readonly Item[]) => Promise<Renewal>;
  readonly leaseSeconds: number;
  /** The cancellation of the item was requested; its lease was renewed. Called at each renewal until the item is released. */
  readonly onCancelled?: (id: string) => void;
  /** The lease of the item is lost or is about to expire: its work must end now. */
  readonly onLost: (id: string) => void;
  /** A renewal failed as a whole: it is repeated at the next one that is due. */
  readonly onError: (error: unknown) => void;
  /** Nothing may run past this time (`monotonic` milliseconds); null: nothing is held. For a watchdog outside the event loop. */
  readonly onDeadline?: ((giveUpAt: number | null) => void) | undefined;
  readonly clocks?: Clocks;
  /** Called after each renewal that was answered. */
  readonly onRenewed?: (kept: number, lost: number) => void;
}

/** The leases of one process; made by `createLeaseKeeper`. */
export interface LeaseKeeper<Item> {
  /** @param since `monotonic` milliseconds, read before the item was claimed. @returns a function that stops renewing the item */
  readonly hold: (item: Item, since: number) => () => void;
  /** Stops renewing. Items that are held are not reported as lost. */
  readonly close: () => void;
}

interface Held<Item> {
  readonly item: Item;
  since: number;
}

interface KeeperState<Item extends Leased> {
  readonly options: LeaseKeeperOptions<Item>;
  readonly clocks: Clocks;
  readonly leaseMs: number;
  readonly held: Map<string, Held<Item>>;
  /** Difference between the time of day and the monotonic clock at the last check. */
  drift: number;
  earlyRenewal: "none" | "due";
}

const SYSTEM_CLOCKS: Clocks = { monotonic: readMonotonic, wall: Date.now };

/** Holds nothing at first. Its timers run until `close`. */
export function createLeaseKeeper<Item extends Leased>(options: LeaseKeeperOptions<Item>): LeaseKeeper<Item> {
  const { clocks = SYSTEM_CLOCKS } = options;
  const leaseMs = options.leaseSeconds * SECOND;
  const state: KeeperState<Item> = {
    options,
    clocks,
    leaseMs,
    held: new Map(),
    drift: readDrift(clocks),
    earlyRenewal: "none",
  };
  const timers = [
    setInterval(() => startRenewal(state), leaseMs / RENEWALS_PER_LEASE),
    setInterval(() => look(state), leaseMs / LOOKS_PER_LEASE),
  ];
  return {
    hold: (item, since) => hold(state, { item, since }),
    close: () => {
      for (const timer of timers) clearInterval(timer);
      options.onDeadline?.(null);
    },
  };
}

function hold<Item extends Leased>(state: KeeperState<Item>, entry: Held<Item>): () => void {
  const { held, clocks, leaseMs } = state;
  held.set(entry.item.id, entry);
  if (held.size === 1) setDeadline(state);
  // The claim took long: the next scheduled renewal may come after the lease would be given up.
  if (clocks.monotonic() - entry.since > leaseMs / RENEWALS_PER_LEASE) renewEarly(state);
  return () => {
    if (!isHeld(state, entry)) return;
    held.delete(entry.item.id);
    if (held.size === 0) setDeadline(state);
  };
}

/** False for an entry that was released, even if a later attempt of the same item is held. */
function isHeld<Item extends Leased>({ held }: KeeperState<Item>, entry: Held<Item>): boolean {
  return held.get(entry.item.id) === entry;
}

function setDeadline<Item extends Leased>({ options, held, leaseMs }: KeeperState<Item>): void {
  if (options.onDeadline === undefined) return;
  let oldest = Infinity;
  for (const { since } of held.values()) oldest = Math.min(oldest, since);
  options.onDeadline(oldest === Infinity ? null : oldest + leaseMs * GIVE_UP_AT);
}

function lose<Item extends Leased>({ held, options }: KeeperState<Item>, { item }: Held<Item>): void {
  held.delete(item.id);
  options.onLost(item.id);
}

function giveUpLate<Item extends Leased>(state: KeeperState<Item>): void {
  const limit = state.clocks.monotonic() - state.leaseMs * GIVE_UP_AT;
  for (const entry of state.held.values()) if (entry.since < limit) lose(state, entry);
  setDeadline(state);
}

async function renew<Item extends Leased>(state: KeeperState<Item>): Promise<void> {
  // After a pause of this process, overdue items are ended first, and not renewed for one more lease.
  giveUpLate(state);
  if (state.held.size === 0) return;
  const since = state.clocks.monotonic();
  const asked = [...state.held.values()];
  const renewal = await state.options.renew(asked.map(({ item }) => item));
  const lost = new Set(renewal.lost);
  const busy = new Set(renewal.busy);
  state.options.onRenewed?.(asked.length - lost.size - busy.size, lost.size);
  for (const entry of asked.filter((each) => isHeld(state, each))) {
    if (busy.has(entry.item.id)) continue;
    // A later renewal may have been answered before this one.
    entry.since = Math.max(entry.since, since);
    if (lost.has(entry.item.id)) lose(state, entry);
  }
  for (const id of renewal.cancelled) if (state.held.has(id)) state.options.onCancelled?.(id);
  setDeadline(state);
}

function startRenewal<Item extends Leased>(state: KeeperState<Item>): void {
  void renew(state).catch(state.options.onError);
}

/** Once for all items that are added in this turn, and after their owner has them. */
function renewEarly<Item extends Leased>(state: KeeperState<Item>): void {
  if (state.earlyRenewal === "due") return;
  state.earlyRenewal = "due";
  queueMicrotask(() => {
    state.earlyRenewal = "none";
    startRenewal(state);
  });
}

function look<Item extends Leased>(state: KeeperState<Item>): void {
  giveUpLate(state);
  const before = state.drift;
  state.drift = readDrift(state.clocks);
  if (Math.abs(state.drift - before) > JUMP_MS) startRenewal(state);
}

function readDrift({ wall, monotonic }: Clocks): number {
  return wall() - monotonic();
}
