import { RequestRefused } from "@platform/contract/client";
import { readEvents } from "@platform/contract/event-stream";
import type { ServerEvent } from "@platform/contract/event-stream";

const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 15_000;

/** Refusals that pass: the user may sign in again, and too many streams become fewer. */
const PASSING = new Set([401, 429]);

/** Where a stream stands, over all of its connections. */
export interface StreamState {
  lastId: string | null;
  hasEnded: boolean;
}

interface FollowOptions {
  readonly signal: AbortSignal;
  /** Called for each event. Answers "end" behind the last one. */
  readonly onEvent: (event: ServerEvent) => "end" | "more";
  /** The server refuses: it is not asked again. */
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
      if (error instanceof RequestRefused && error.status < 500 && !PASSING.has(error.status)) {
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
  onEvent: FollowOptions["onEvent"],
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
