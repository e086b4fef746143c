import { setTimeout as delay } from "node:timers/promises";
import { Client } from "pg";
import type { ClientConfig } from "pg";
import { SECOND } from "@platform/engine/base/time";
import { computePause } from "@platform/engine/base/backoff";
import type { Logger } from "@platform/engine/base/logger";
import { readMonotonic } from "@platform/engine/base/monotonic";

/** What is called for a channel. */
export interface ChannelListener {
  readonly onNotify: (payload: string) => void;
  /** Notifications may have been lost: the connection broke, or was just established. */
  readonly onReset: () => void;
  /**
   * What was notified for half a second may not have been heard: the connection is broken, or does not answer. Called again and again
   * while that is so, several times a second: who must not act on what has changed a second ago forgets what it remembers.
   */
  readonly onSilence?: () => void;
}

/** Listens on channels. */
export interface Listener {
  /** Listens on a channel; notifications arrive from the next `onReset` on. Returns a function that stops it. */
  readonly listen: (channel: string, listener: ChannelListener) => () => void;
  readonly close: () => Promise<void>;
}

const BACKOFF = { firstMs: 50, ceilingMs: 5 * SECOND };
/** An unreachable server (a firewall, a pulled cable) is noticed within the sum of both. */
const PROBE_INTERVAL = 20 * SECOND;
const PROBE_DEADLINE = 10 * SECOND;
/** The interval where a listener wants to know of silence. */
const SHORT_PROBE_INTERVAL = 200;
/** `onSilence` is called when nothing was proved for so long; together with the interval of looking less than a second. */
const SILENT_AFTER = 500;
const LOOK_INTERVAL = 200;

interface ListenerState {
  readonly config: ClientConfig;
  readonly logger: Logger;
  readonly channels: Map<string, Set<ChannelListener>>;
  readonly halt: AbortController;
  client: Client | null;
  /** What the connection was asked last. */
  asked: Promise<unknown>;
  running: Promise<void> | null;
  /** All notifications of before this moment have been heard; monotonic. */
  heardAt: number;
  looking: NodeJS.Timeout | null;
}

/** Keeps one LISTEN connection for all channels: connects when first needed, and again, with jitter, when it breaks. */
export function createListener(config: ClientConfig, logger: Logger): Listener {
  const state: ListenerState = {
    config,
    logger,
    channels: new Map(),
    halt: new AbortController(),
    client: null,
    asked: Promise.resolve(),
    running: null,
    heardAt: -Infinity,
    looking: null,
  };
  return {
    listen: (channel, listener) => addListener(state, channel, listener),
    close: async () => {
      state.halt.abort();
      clearInterval(state.looking ?? undefined);
      if (state.client !== null) await endWithin(state.client);
      await state.running;
    },
  };
}

function addListener(state: ListenerState, channel: string, listener: ChannelListener): () => void {
  const known = state.channels.get(channel);
  const listeners = known ?? new Set();
  listeners.add(listener);
  state.channels.set(channel, listeners);
  state.running ??= keepConnected(state);
  if (listener.onSilence !== undefined)
    state.looking ??= setInterval(() => look(state), LOOK_INTERVAL).unref();
  if (state.client !== null)
    void hear(state, state.client, { channel, listener, isNew: known === undefined });
  return () => void listeners.delete(listener);
}

interface Listening {
  readonly channel: string;
  readonly listener: ChannelListener;
  /** The connection does not listen to this channel yet. */
  readonly isNew: boolean;
}

async function hear(
  state: ListenerState,
  client: Client,
  { channel, listener, isNew }: Listening,
): Promise<void> {
  try {
    if (isNew) await ask(state, client, `listen ${client.escapeIdentifier(channel)}`);
    listener.onReset();
  } catch (error) {
    // The connection is broken; the loop connects again and listens on every channel.
    state.logger.debug({ err: error, channel }, "could not listen yet");
  }
}

async function keepConnected(state: ListenerState): Promise<void> {
  const signal = state.halt.signal;
  for (let failures = 0; !signal.aborted; failures++) {
    const wasConnected = await connectOnce(state);
    if (signal.aborted) return;
    if (wasConnected) {
      failures = 0;
      resetAll(state);
    }
    const pause = computePause(BACKOFF, failures);
    await delay(pause, undefined, { signal, ref: false }).catch(() => undefined);
  }
}

/** Connects, listens, and resolves when the connection is gone: true if there was one. */
async function connectOnce(state: ListenerState): Promise<boolean> {
  const client = new Client({ ...state.config, query_timeout: PROBE_DEADLINE });
  state.asked = Promise.resolve();
  const ended = new Promise<void>((resolve) => {
    client.once("end", resolve);
    client.on("error", () => resolve());
  });
  client.on("notification", ({ channel, payload }) => {
    for (const listener of state.channels.get(channel) ?? []) listener.onNotify(payload ?? "");
  });
  let isConnected = false;
  try {
    await client.connect();
    for (const channel of state.channels.keys())
      await ask(state, client, `listen ${client.escapeIdentifier(channel)}`);
    isConnected = true;
    state.client = client;
    state.heardAt = readMonotonic();
    resetAll(state);
    if (!state.halt.signal.aborted) await Promise.race([ended, probe(state, client)]);
  } catch (error) {
    state.logger.debug({ err: error }, "the LISTEN connection could not be established");
  } finally {
    state.client = null;
    await endWithin(client);
  }
  if (isConnected && !state.halt.signal.aborted)
    state.logger.warn({}, "the LISTEN connection broke; connecting again");
  return isConnected;
}

/** `end()` waits for an answer, which an unreachable server never gives. */
async function endWithin(client: Client): Promise<void> {
  await Promise.race([client.end().catch(() => undefined), delay(SECOND, undefined, { ref: false })]);
}

/**
 * Resolves when the server does not answer a trivial query in time. PostgreSQL sends what was notified before it has taken a query
 * ahead of the end of its answer.
 */
async function probe(state: ListenerState, client: Client): Promise<void> {
  const signal = state.halt.signal;
  let askedAt = state.heardAt;
  for (;;) {
    await delay(SHORT_PROBE_INTERVAL, undefined, { signal, ref: false });
    if (state.looking === null && readMonotonic() - askedAt < PROBE_INTERVAL) continue;
    askedAt = readMonotonic();
    const answered = await ask(state, client, "select 1").then(
      () => true,
      () => false,
    );
    if (!answered) return;
    state.heardAt = askedAt;
  }
}

/**
 * One after the other: pg's own queue of queries goes with its next major version, and warns until then. Behind one that fails all do, so that
 * the connection is made anew.
 */
function ask(state: ListenerState, client: Client, query: string): Promise<unknown> {
  const answer = state.asked.then(() => client.query(query));
  state.asked = answer;
  return answer;
}

/** Tells those who want to know when it is not sure that notifications arrive. */
function look(state: ListenerState): void {
  if (state.halt.signal.aborted || readMonotonic() - state.heardAt < SILENT_AFTER) return;
  for (const listeners of state.channels.values()) {
    for (const listener of listeners) listener.onSilence?.();
  }
}

function resetAll(state: ListenerState): void {
  for (const listeners of state.channels.values()) {
    for (const listener of listeners) listener.onReset();
  }
}
