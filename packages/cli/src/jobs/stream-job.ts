import { RequestRefused } from "@platform/contract/client";
import { EventTooLong, readEvents } from "@platform/contract/event-stream";
import type { ServerEvent } from "@platform/contract/event-stream";
import type { LogEntry } from "@platform/contract/execution";
import { computePause } from "@platform/engine/base/backoff";
import { SECOND } from "@platform/engine/base/time";
import { isNetworkError } from "../base/explain-error.ts";
import type { PlatformClient } from "../base/session.ts";
import { pause } from "../base/wait.ts";
import type { Job } from "./job.ts";

/** What the stream of a job says. */
export type JobEvent =
  | { readonly type: "state"; readonly job: Job }
  | { readonly type: "progress"; readonly progress: NonNullable<Job["progress"]> }
  | { readonly type: "log"; readonly entries: readonly LogEntry[] }
  /** The job has ended; the last state was its final one. */
  | { readonly type: "end" }
  /** There is no stream: poll, the log from this cursor on (null: from its first line). */
  | { readonly type: "lost"; readonly cursor: string | null };

/** The platform sends something every 15 seconds; what is silent for so long is held back on its way, or broken. */
const SILENCE_MS = 45 * SECOND;
/** So many connections in a row without an event, and it is polled. */
const MAX_FAILURES = 3;
const BACKOFF = { firstMs: 0.25 * SECOND, ceilingMs: 4 * SECOND };

/**
 * Follows a job by its stream of events, which is connected again where it breaks, without loss or repetition of lines. It ends with `end` or
 * `lost`, or without either once `signal` aborts.
 *
 * @throws RequestRefused where polling would be refused as well
 */
export async function* streamJob(
  client: PlatformClient,
  id: string,
  signal: AbortSignal,
): AsyncGenerator<JobEvent> {
  let cursor: string | null = null;
  for (let failures = 0; failures < MAX_FAILURES && !signal.aborted; failures += 1) {
    if (failures > 0) await pause(computePause(BACKOFF, failures - 1), signal);
    for await (const event of readWhileOpen(client, id, { cursor, signal })) {
      if (event === "absent") {
        yield { type: "lost", cursor };
        return;
      }
      failures = 0;
      cursor = event.id ?? cursor;
      yield* toJobEvents(event);
      if (event.event === "end") return;
    }
  }
  if (!signal.aborted) yield { type: "lost", cursor };
}

interface Place {
  readonly cursor: string | null;
  readonly signal: AbortSignal;
}

/** The events until the connection breaks; `absent`: there is no stream. */
async function* readWhileOpen(
  client: PlatformClient,
  id: string,
  place: Place,
): AsyncGenerator<ServerEvent | "absent"> {
  try {
    yield* connect(client, id, place);
  } catch (error) {
    if (place.signal.aborted || isNetworkError(error) || error instanceof StreamBroken) return;
    if (!(error instanceof RequestRefused) || !isWithoutStreams(error)) throw error;
    yield "absent";
  }
}

/** The connection broke, or nothing came for too long. */
class StreamBroken extends Error {}

/** A platform of before, one with too many open streams, or one that is away for a moment: polling says more. */
function isWithoutStreams({ status, problem }: RequestRefused): boolean {
  return (
    (status === 404 && problem.code === "NOT_FOUND") || status === 405 || status === 429 || status >= 500
  );
}

async function* connect(
  client: PlatformClient,
  id: string,
  { cursor, signal }: Place,
): AsyncGenerator<ServerEvent> {
  const leaving = new AbortController();
  const leave = () => leaving.abort();
  signal.addEventListener("abort", leave);
  let isOpen = false;
  const silence = setTimeout(() => leaving.abort(new StreamBroken()), SILENCE_MS);
  try {
    const headers = cursor === null ? {} : { "last-event-id": cursor };
    const { body } = await client.streamJobEvents({ params: { id }, headers, signal: leaving.signal });
    isOpen = true;
    if (body !== null) yield* readEvents(watchSilence(body, silence));
  } catch (error) {
    // What is read of an open connection fails by the connection alone, but for an event without end.
    const isBroken = isOpen || leaving.signal.reason instanceof StreamBroken;
    throw isBroken && !(error instanceof EventTooLong) ? new StreamBroken("", { cause: error }) : error;
  } finally {
    clearTimeout(silence);
    signal.removeEventListener("abort", leave);
    leaving.abort();
  }
}

/** The same stream; each piece begins the time anew. */
function watchSilence(body: ReadableStream<Uint8Array>, silence: NodeJS.Timeout): ReadableStream<Uint8Array> {
  return body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform: (piece, controller) => {
        silence.refresh();
        controller.enqueue(piece);
      },
    }),
  );
}

/** None: a kind of a later platform, or `closed`, after which a new connection says more. */
function toJobEvents({ event, data }: ServerEvent): readonly JobEvent[] {
  switch (event) {
    case "state":
      return [{ type: "state", job: JSON.parse(data) as Job }];
    case "progress":
      return [{ type: "progress", progress: JSON.parse(data) as NonNullable<Job["progress"]> }];
    case "log":
      return [{ type: "log", entries: JSON.parse(data) as readonly LogEntry[] }];
    case "end":
      return [{ type: "end" }];
    default:
      return [];
  }
}
