import { useEffect, useEffectEvent } from "react";
import { RequestRefused } from "@platform/contract/client";
import { readEvents } from "@platform/contract/event-stream";
import type { ServerEvent } from "@platform/contract/event-stream";
import type { OperationId, PlatformApi, RequestOf } from "./client.ts";
import { useScope } from "./scope.tsx";

/** An operation that answers with server-sent events, or with content. */
export type StreamOperation = {
  [K in OperationId]: Awaited<ReturnType<PlatformApi[K]>> extends Response ? K : never;
}[OperationId];

interface StreamOptions {
  /** Called for each event. Answers "end" behind the last one. */
  readonly onEvent: (event: ServerEvent) => "end" | "more";
  /** The platform refuses: it is not asked again. */
  readonly onRefused?: (error: RequestRefused) => void;
  /** false: nothing is followed. */
  readonly isActive?: boolean;
}

const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 15_000;

/**
 * Follows a stream of events while the page is visible: a browser keeps six connections to a host, and hidden tabs would hold them. A
 * stream that was cut off goes on behind the last event that has arrived.
 */
export function useStream<K extends StreamOperation>(
  op: K,
  request: RequestOf<K>,
  { isActive = true, ...options }: StreamOptions,
): void {
  const { api } = useScope();
  const onEvent = useEffectEvent(options.onEvent);
  const onRefused = useEffectEvent((error: RequestRefused) => options.onRefused?.(error));
  const key = JSON.stringify(request);
  useEffect(() => {
    if (!isActive) return undefined;
    const open = (headers: Readonly<Record<string, string>>, signal: AbortSignal) => {
      const call: unknown = api[op];
      const asked = JSON.parse(key) as Readonly<Record<string, unknown>>;
      return (call as (request: unknown) => Promise<Response>)({ ...asked, headers, signal });
    };
    return followWhileVisible((state, signal) =>
      follow(open, state, { signal, onEvent: (event) => onEvent(event), onRefused: (e) => onRefused(e) }),
    );
  }, [api, op, key, isActive]);
}

/** Where a stream stands, over all of its connections. */
export interface StreamState {
  lastId: string | null;
  hasEnded: boolean;
}

function followWhileVisible(run: (state: StreamState, signal: AbortSignal) => Promise<void>): () => void {
  const state: StreamState = { lastId: null, hasEnded: false };
  let connection: AbortController | null = null;
  const change = () => {
    if (document.hidden) {
      connection?.abort();
      connection = null;
    } else if (connection === null && !state.hasEnded) {
      connection = new AbortController();
      void run(state, connection.signal);
    }
  };
  document.addEventListener("visibilitychange", change);
  change();
  return () => {
    document.removeEventListener("visibilitychange", change);
    connection?.abort();
  };
}

interface FollowOptions {
  readonly signal: AbortSignal;
  readonly onEvent: StreamOptions["onEvent"];
  readonly onRefused: (error: RequestRefused) => void;
}

type Open = (headers: Readonly<Record<string, string>>, signal: AbortSignal) => Promise<Response>;

/** Connects again until the stream has ended, was refused, or the signal is given. Never rejects. */
export async function follow(open: Open, state: StreamState, options: FollowOptions): Promise<void> {
  const { signal, onEvent, onRefused } = options;
  let pause = FIRST_PAUSE_MS;
  while (!signal.aborted && !state.hasEnded) {
    try {
      const { body } = await open(state.lastId === null ? {} : { "last-event-id": state.lastId }, signal);
      await readAll(body, state, (event) => {
        pause = FIRST_PAUSE_MS;
        return onEvent(event);
      });
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof RequestRefused && error.status < 500 && error.status !== 429) {
        state.hasEnded = true;
        onRefused(error);
        return;
      }
    }
    if (state.hasEnded) return;
    await wait(pause, signal);
    pause = Math.min(pause * 2, LONGEST_PAUSE_MS);
  }
}

async function readAll(
  body: ReadableStream<Uint8Array> | null,
  state: StreamState,
  onEvent: StreamOptions["onEvent"],
): Promise<void> {
  if (body === null) return;
  for await (const event of readEvents(body)) {
    // An event without an id, such as the first one of a connection, does not move the place where the next one goes on.
    if (event.id !== null) state.lastId = event.id;
    state.hasEnded = onEvent(event) === "end";
    if (state.hasEnded) return;
  }
}

function wait(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, milliseconds);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      resolve();
    });
  });
}
