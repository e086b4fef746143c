import { SECOND } from "../base/time.ts";
import { readMonotonic } from "../base/monotonic.ts";
import type { Renewal } from "../store/execution-store.ts";

/*
 * Keeps the leases of what this process has taken from a queue: executions, builds.
 *
 * All are renewed together, three times a lease. What could not be renewed is given up when 0.8 of its lease is over: its owner ends the
 * work before anybody else may take it or settle it. Times are taken before the store is asked, so that ours end before the store's.
 *
 * Our deadlines count on a monotonic clock: a time of day that is set moves none of them. It stands still while the machine is suspended,
 * when the store's clock goes on; so a jump of the time of day has everything renewed at once, and the store says what is lost.
 */

/** Renewals in one lease: two may fail before it is in danger. */
const RENEWALS_PER_LEASE = 3;
/** Looks in one lease at what is late, and at the clocks. */
const LOOKS_PER_LEASE = 10;
/** A lease that could not be renewed is given up when so much of it is over. */
const GIVE_UP_AT = 0.8;
/** So much more of the time of day than of our own clock has passed between two looks: the machine slept, or its clock was set. */
const JUMP_MS = 2 * SECOND;

/** Milliseconds. `monotonic` counts our own deadlines; `wall` only shows when it jumps against it. */
export interface Clocks {
  readonly monotonic: () => number;
  readonly wall: () => number;
}

/** Anything that is held by a lease; its key in the store may have more parts. */
export interface Leased {
  readonly id: string;
}

export interface LeaseKeeperOptions<Item extends Leased> {
  readonly renew: (items: readonly Item[]) => Promise<Renewal>;
  readonly leaseSeconds: number;
  readonly onCancelled?: (id: string) => void;
  /** The item is no longer ours, or will not be in a moment: its work is to end now. */
  readonly onLost: (id: string) => void;
  readonly onError: (error: unknown) => void;
  /** Nothing may run past this time (`monotonic` milliseconds); null: nothing is held. For a watchdog outside the event loop. */
  readonly onDeadline?: ((giveUpAt: number | null) => void) | undefined;
  readonly clocks?: Clocks;
}

export interface LeaseKeeper<Item> {
  /** `since`: `monotonic` milliseconds, from before the item was asked for. Returns how to let it go. */
  readonly hold: (item: Item, since: number) => () => void;
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
  /** Of the time of day against our own clock, at the latest look. */
  drift: number;
  earlyRenewal: "none" | "due";
}

const SYSTEM_CLOCKS: Clocks = { monotonic: readMonotonic, wall: Date.now };

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
  // The answer to the claim took long: the next renewal may come after it would be given up.
  if (clocks.monotonic() - entry.since > leaseMs / RENEWALS_PER_LEASE) renewEarly(state);
  return () => {
    if (!isHeld(state, entry)) return;
    held.delete(entry.item.id);
    if (held.size === 0) setDeadline(state);
  };
}

/** Not so for an entry that was let go, also where its next attempt is held meanwhile. */
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
  // After a pause of this process: what is late is ended first, and not renewed for one more lease.
  giveUpLate(state);
  if (state.held.size === 0) return;
  const since = state.clocks.monotonic();
  const asked = [...state.held.values()];
  const renewal = await state.options.renew(asked.map(({ item }) => item));
  const lost = new Set(renewal.lost);
  const busy = new Set(renewal.busy);
  for (const entry of asked.filter((each) => isHeld(state, each))) {
    if (busy.has(entry.item.id)) continue;
    // A renewal that was asked for later may have been answered before.
    entry.since = Math.max(entry.since, since);
    if (lost.has(entry.item.id)) lose(state, entry);
  }
  for (const id of renewal.cancelled) if (state.held.has(id)) state.options.onCancelled?.(id);
  setDeadline(state);
}

function startRenewal<Item extends Leased>(state: KeeperState<Item>): void {
  void renew(state).catch(state.options.onError);
}

/** Once for all that are held in this turn, and when their owner knows them. */
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
