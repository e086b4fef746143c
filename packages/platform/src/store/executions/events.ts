import type { ExecutionRecord, StoreEvent } from "@platform/engine/store/execution-store";
import { createUuidV7 } from "@platform/engine/base/uuid";
import type { Database } from "../../postgres/database.ts";
import { EXECUTIONS_CHANNEL } from "../base/channels.ts";

/*
 * Listeners in this process get its own changes directly, with the record; other processes get them by NOTIFY. A payload
 * is `origin:kind:ids`, with ids in base64 and joined by commas: 256 of them are below PostgreSQL's limit of 8000 bytes.
 * PostgreSQL also sends a process its own notifications; they are ignored by their origin.
 */

/** The number of ids that fit into one notification. */
export const MAX_NOTIFIED_IDS = 256;

/** Announces changes of executions, in this process and between processes. */
export interface Events {
  /** Names this store in payloads. */
  readonly origin: string;
  readonly emitPending: () => void;
  readonly emitHeld: () => void;
  readonly emitChanged: (record: ExecutionRecord) => void;
  readonly emitCancel: (id: string) => void;
  /** In this process only: each line would otherwise cost a notification. */
  readonly emitLog: (id: string) => void;
  readonly emitProgress: (id: string) => void;
  readonly subscribe: (listener: (event: StoreEvent) => void) => () => void;
  readonly close: () => void;
}

/** Listens on EXECUTIONS_CHANNEL from the first `subscribe` on. */
export function createEvents(database: Database): Events {
  const origin = createUuidV7();
  const listeners = new Set<(event: StoreEvent) => void>();
  const emit = (event: StoreEvent) => {
    for (const listener of listeners) listener(event);
  };
  let stopListening: (() => void) | null = null;
  const listen = () =>
    database.listen(EXECUTIONS_CHANNEL, {
      onNotify: (payload) => {
        for (const event of parsePayload(payload, origin)) emit(event);
      },
      onReset: () => emit({ type: "reset" }),
    });
  return {
    origin,
    emitPending: () => emit({ type: "pending" }),
    emitHeld: () => emit({ type: "held" }),
    emitChanged: (record) => emit({ type: "changed", id: record.id, record }),
    emitCancel: (id) => emit({ type: "cancel", id }),
    emitLog: (id) => emit({ type: "log", id }),
    emitProgress: (id) => emit({ type: "progress", id }),
    subscribe: (listener) => {
      listeners.add(listener);
      stopListening ??= listen();
      return () => void listeners.delete(listener);
    },
    close: () => {
      listeners.clear();
      stopListening?.();
    },
  };
}

/** SQL for an id in the form that payloads have. */
export function encodeId(column: string): string {
  return `encode(uuid_send(${column}), 'base64')`;
}

/** SQL that aggregates the ids of a relation into the form that payloads have. */
export function selectPayloadIds(column: string): string {
  return `string_agg(${encodeId(column)}, ',')`;
}

function parsePayload(payload: string, ownOrigin: string): readonly StoreEvent[] {
  const [origin, kind, ids = ""] = payload.split(":");
  if (origin === ownOrigin) return [];
  if (kind === "pending" || kind === "held") return [{ type: kind }];
  if (kind !== "changed" && kind !== "cancel" && kind !== "progress") return [];
  return ids.split(",").map((id) => ({ type: kind, id: parseId(id) }));
}

function parseId(text: string): string {
  const hex = Buffer.from(text, "base64").toString("hex");
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-");
}
