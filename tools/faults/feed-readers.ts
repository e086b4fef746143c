import { setTimeout as delay } from "node:timers/promises";
import type { ExecutionStatus } from "@platform/contract/execution";
import type { Caller } from "./caller.ts";
import type { History } from "./history.ts";

const PAUSE_MS = 100;
const WAIT_SECONDS = 2;
/** A stream has a comment every 15 s; its connection is given up much before, as it may be one to a stopped process. */
const STREAM_MS = 8_000;

/** The consumers of the feed of the application: one reads pages, the other one a stream. */
export const READERS = ["pages", "stream"] as const;

interface FeedItem {
  readonly cursor: string;
  readonly executionId: string;
  readonly status: ExecutionStatus;
}

/** Both readers begin with the oldest event and go on until they are closed; each change of the gateway goes on behind the last cursor. */
export function startReaders(caller: Caller, history: History): { readonly close: () => Promise<void> } {
  const stopping = new AbortController();
  const { signal } = stopping;
  const place = { caller, history, signal };
  const reading = Promise.all([readPages(place), readStreams(place)]);
  reading.catch(() => undefined);
  return {
    close: async () => {
      stopping.abort();
      await reading;
    },
  };
}

interface Place {
  readonly caller: Caller;
  readonly history: History;
  readonly signal: AbortSignal;
}

function note(history: History, reader: string, { cursor, executionId: id, status }: FeedItem): void {
  history.add({ kind: "event", reader, cursor, id, status });
}

async function readPages({ caller, history, signal }: Place): Promise<void> {
  let after = "0";
  for (let gateway = 0; !signal.aborted; gateway++) {
    const reply = await caller.ask<{ items: FeedItem[]; cursor: string }>(
      gateway,
      "GET",
      `/events?after=${after}`,
      {
        headers: { prefer: `wait=${WAIT_SECONDS}` },
      },
    );
    if (reply.kind === "answer" && reply.status === 200) {
      for (const item of reply.body.items) note(history, "pages", item);
      after = reply.body.cursor;
    } else await delay(PAUSE_MS);
  }
}

async function readStreams({ caller, history, signal }: Place): Promise<void> {
  let after = "0";
  for (let gateway = 1; !signal.aborted; gateway++) {
    try {
      await caller.follow(
        gateway,
        `/events?after=${after}`,
        { signal, withinMs: STREAM_MS },
        async (events) => {
          for await (const { event, data, id } of events) {
            if (event === "change") note(history, "stream", JSON.parse(data) as FeedItem);
            after = id ?? after;
          }
        },
      );
    } catch {
      // It broke, or was given up; the other gateway goes on behind the last cursor.
    }
    await delay(PAUSE_MS);
  }
}
