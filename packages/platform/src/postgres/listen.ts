import { setTimeout as delay } from "node:timers/promises";
import { Client } from "pg";
import type { ClientConfig } from "pg";
import type { Logger } from "../base/logger.ts";

export interface ChannelListener {
  readonly onNotify: (payload: string) => void;
  /** Notifications may have been lost: the connection broke, or was just made. */
  readonly onReset: () => void;
}

export interface Listener {
  /** Hears a channel from the next `onReset` on; returns how to stop. */
  readonly listen: (channel: string, listener: ChannelListener) => () => void;
  readonly close: () => Promise<void>;
}

const SECOND = 1000;
const FIRST_PAUSE = 50;
const PAUSE_CEILING = 5 * SECOND;
/** A connection that died without a word (a firewall, a pulled cable) is noticed within this time. */
const PROBE_INTERVAL = 20 * SECOND;
const PROBE_DEADLINE = 10 * SECOND;

interface Room {
  readonly config: ClientConfig;
  readonly logger: Logger;
  readonly channels: Map<string, Set<ChannelListener>>;
  readonly halt: AbortController;
  client: Client | null;
  running: Promise<void> | null;
}

/** Keeps one LISTEN connection for all channels, made when first needed and made again, with jitter, when it breaks. */
export function createListener(config: ClientConfig, logger: Logger): Listener {
  const room: Room = {
    config,
    logger,
    channels: new Map(),
    halt: new AbortController(),
    client: null,
    running: null,
  };
  return {
    listen: (channel, listener) => addListener(room, channel, listener),
    close: async () => {
      room.halt.abort();
      if (room.client !== null) await endWithin(room.client);
      await room.running;
    },
  };
}

function addListener(room: Room, channel: string, listener: ChannelListener): () => void {
  const known = room.channels.get(channel);
  const listeners = known ?? new Set();
  listeners.add(listener);
  room.channels.set(channel, listeners);
  room.running ??= keepConnected(room);
  if (room.client !== null) void hear(room, room.client, channel, known === undefined, listener);
  return () => void listeners.delete(listener);
}

async function hear(
  room: Room,
  client: Client,
  channel: string,
  isNew: boolean,
  listener: ChannelListener,
): Promise<void> {
  try {
    if (isNew) await client.query(`listen ${client.escapeIdentifier(channel)}`);
    listener.onReset();
  } catch (error) {
    // The connection is broken; the loop makes another and listens to every channel again.
    room.logger.debug({ err: error, channel }, "could not listen yet");
  }
}

async function keepConnected(room: Room): Promise<void> {
  const signal = room.halt.signal;
  for (let failures = 0; !signal.aborted; failures++) {
    const wasConnected = await connectOnce(room);
    if (signal.aborted) return;
    if (wasConnected) {
      failures = 0;
      resetAll(room);
    }
    const pause = Math.min(PAUSE_CEILING, FIRST_PAUSE * 2 ** failures) * (0.5 + Math.random());
    await delay(pause, undefined, { signal, ref: false }).catch(() => undefined);
  }
}

/** Connects, listens, and resolves when the connection is gone: true if there was one. */
async function connectOnce(room: Room): Promise<boolean> {
  const client = new Client({ ...room.config, query_timeout: PROBE_DEADLINE });
  const ended = new Promise<void>((resolve) => {
    client.once("end", resolve);
    client.on("error", () => resolve());
  });
  client.on("notification", ({ channel, payload }) => {
    for (const listener of room.channels.get(channel) ?? []) listener.onNotify(payload ?? "");
  });
  let isConnected = false;
  try {
    await client.connect();
    for (const channel of room.channels.keys())
      await client.query(`listen ${client.escapeIdentifier(channel)}`);
    isConnected = true;
    room.client = client;
    resetAll(room);
    if (!room.halt.signal.aborted) await Promise.race([ended, probe(room, client)]);
  } catch (error) {
    room.logger.debug({ err: error }, "the LISTEN connection could not be made");
  } finally {
    room.client = null;
    await endWithin(client);
  }
  if (isConnected && !room.halt.signal.aborted)
    room.logger.warn({}, "the LISTEN connection broke; making another");
  return isConnected;
}

/** end() waits for an answer that a dead peer never gives. */
async function endWithin(client: Client): Promise<void> {
  await Promise.race([client.end().catch(() => undefined), delay(SECOND, undefined, { ref: false })]);
}

/** Resolves when the server does not answer a trivial question in time. */
async function probe(room: Room, client: Client): Promise<void> {
  const signal = room.halt.signal;
  for (;;) {
    await delay(PROBE_INTERVAL, undefined, { signal, ref: false });
    const answered = await client.query("select 1").then(
      () => true,
      () => false,
    );
    if (!answered) return;
  }
}

function resetAll(room: Room): void {
  for (const listeners of room.channels.values()) {
    for (const listener of listeners) listener.onReset();
  }
}
