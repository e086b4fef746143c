import { setTimeout as delay } from "node:timers/promises";
import { isFinal } from "@platform/contract/execution";
import { Problem } from "@platform/contract/problems";
import { SECOND } from "@platform/engine/base/time";
import { createStreamRoom } from "@platform/engine/executions/stream-room";
import type { StreamRoom } from "@platform/engine/executions/stream-room";
import { mapEvents, renderClosed, renderEvent } from "@platform/engine/http/event-stream";
import type { SentEvents } from "@platform/engine/http/event-stream";
import type { BuildHistory, ListedBuild } from "../store/builds/build-history.ts";
import type { BuildStore } from "../store/builds/builds.ts";
import { toBuildSummary } from "./build-bodies.ts";

/** A stream of a build asks the database four times a second, while those of executions ask nothing: there are fewer. */
export const BUILD_STREAM_LIMITS = { perOrganisation: 20, total: 200 };

/** Counts the streams of builds alone; one for a process. */
export function createBuildStreamRoom(): StreamRoom {
  return createStreamRoom(BUILD_STREAM_LIMITS);
}

/** Where builds are read, and what counts the streams. */
export interface FollowBuildDeps {
  readonly builds: Pick<BuildStore, "readLog">;
  readonly buildHistory: Pick<BuildHistory, "find">;
  /** Of all streams of this process. */
  readonly room: StreamRoom;
  /** Of those of builds. */
  readonly buildRoom: StreamRoom;
}

/** Whose build is followed, and from where. */
interface FollowedBuild {
  readonly organisationId: string;
  readonly build: ListedBuild;
  /** Number of the first line that is sent. */
  readonly offset: number;
}

type BuildEvent =
  | { readonly type: "state"; readonly build: ListedBuild }
  | {
      readonly type: "log";
      readonly offset: number;
      readonly lines: readonly string[];
      readonly nextOffset: number;
    }
  | { readonly type: "end" }
  | { readonly type: "closed"; readonly problem: Problem };

/** A build writes its log in bursts of about this time; a person who reads along sees no difference. */
const POLL_MS = 0.5 * SECOND;

/**
 * The events of a build until it has ended. A stream pulls: while its caller does not read, nothing is asked for, and what it goes on from is its
 * position alone.
 */
export function followBuild(deps: FollowBuildDeps, followed: FollowedBuild): SentEvents {
  const stopping = new AbortController();
  let problem: Problem | null = null;
  const events = follow(deps, followed, stopping.signal, () => problem);
  return {
    events: mapEvents(events, (event) => render(event, followed.build.id)),
    stop: (why) => {
      problem ??= why;
      stopping.abort();
    },
  };
}

async function* follow(
  { builds, buildHistory, room, buildRoom }: FollowBuildDeps,
  { organisationId, build, offset }: FollowedBuild,
  signal: AbortSignal,
  findProblem: () => Problem | null,
): AsyncGenerator<BuildEvent, void> {
  const leave = enter(organisationId, [buildRoom, room]);
  try {
    let shown = build;
    let next = offset;
    yield { type: "state", build };
    while (!signal.aborted) {
      // Before its lines are read: those of a final state are then all there.
      const current = await buildHistory.find(organisationId, shown);
      if (current === null) {
        yield { type: "closed", problem: new Problem("SERVICE_NOT_FOUND", "The build was removed.") };
        return;
      }
      const hasEnded = isFinal(current.status);
      const hasMoved = current.status !== shown.status || current.buildsBefore !== shown.buildsBefore;
      if (!hasEnded && hasMoved) yield { type: "state", build: current };
      shown = current;
      const page = await builds.readLog(organisationId, build.id, next);
      if (page.lines.length > 0) yield { type: "log", offset: next, ...page };
      next = page.nextOffset;
      if (page.lines.length > 0) continue;
      if (hasEnded) {
        yield { type: "state", build: current };
        yield { type: "end" };
        return;
      }
      await delay(POLL_MS, undefined, { signal }).catch(() => undefined);
    }
    const why = findProblem();
    if (why !== null) yield { type: "closed", problem: why };
  } finally {
    leave();
  }
}

/** Takes a place in each. @throws Problem RATE_LIMITED, UNAVAILABLE; then no place is taken */
function enter(organisationId: string, rooms: readonly StreamRoom[]): () => void {
  const taken: (() => void)[] = [];
  const leave = () => {
    for (const giveBack of taken) giveBack();
  };
  try {
    for (const room of rooms) taken.push(room.take(organisationId));
    return leave;
  } catch (error) {
    leave();
    throw error;
  }
}

function render(event: BuildEvent, id: string): string {
  switch (event.type) {
    case "state":
      return renderEvent("state", JSON.stringify(toBuildSummary(event.build)));
    case "log": {
      const { offset, lines, nextOffset } = event;
      return renderEvent("log", JSON.stringify({ offset, lines }), `${id}:${nextOffset}`);
    }
    case "end":
      return renderEvent("end", "{}");
    case "closed":
      return renderClosed(event.problem);
    default:
      return event satisfies never;
  }
}

const POSITION = /^([0-9a-f-]{36}):(\d{1,9})$/u;

/** What the id of a `log` says. @throws Problem INVALID_INPUT */
export function readBuildPosition(lastEventId: string): { readonly id: string; readonly offset: number } {
  const [, id, offset] = POSITION.exec(lastEventId) ?? [];
  if (id === undefined || offset === undefined)
    throw new Problem("INVALID_INPUT", "The Last-Event-ID header is none of the ids of this stream.");
  return { id, offset: Number(offset) };
}
