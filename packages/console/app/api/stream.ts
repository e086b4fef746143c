import { useEffect, useEffectEvent } from "react";
import type { RequestRefused } from "@platform/contract/client";
import type { ServerEvent } from "@platform/contract/event-stream";
import type { OperationId, PlatformApi, RequestOf } from "./client.ts";
import { follow } from "./follow.ts";
import type { StreamState } from "./follow.ts";
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
