import { useState, useSyncExternalStore } from "react";
import type { StatusRecord } from "@platform/contract/execution";
import { makeStale } from "../api/queries.ts";
import { useScope } from "../api/scope.tsx";
import { useStream } from "../api/stream.ts";
import { createLogStore } from "./log-store.ts";
import type { LogLine, LogSnapshot } from "./log-store.ts";

/** An execution as its stream tells it. */
interface Followed {
  readonly log: LogSnapshot;
  /** What the code has said last of how far it is. */
  readonly progress: StatusRecord["progress"];
  /** Why the platform does not stream it; null: it does. */
  readonly refusal: Error | null;
}

/** Reads that a new state makes stale. */
const OF_STATE = ["getExecution", "explainExecution", "listResultFiles", "getQuantumJob"] as const;

/**
 * Follows state and log of one execution. Once it is followed it stays so, as long as the page is open: a log that was read is kept.
 *
 * @param isWanted false: nothing is asked for yet
 */
export function useFollowed(id: string, isWanted: boolean): Followed {
  const scope = useScope();
  const [store] = useState(() => createLogStore(requestAnimationFrame));
  const [isActive, setIsActive] = useState(isWanted);
  if (isWanted && !isActive) setIsActive(true);
  const [progress, setProgress] = useState<StatusRecord["progress"]>();
  const [refusal, setRefusal] = useState<Error | null>(null);
  useStream(
    "followExecution",
    { params: { id } },
    {
      isActive,
      onRefused: setRefusal,
      onEvent: ({ event, data }) => {
        if (event === "log") store.append(JSON.parse(data) as LogLine[]);
        if (event === "progress") setProgress(JSON.parse(data) as StatusRecord["progress"]);
        if (event === "state") {
          setProgress((JSON.parse(data) as StatusRecord).progress);
          void makeStale(scope, OF_STATE);
        }
        if (event !== "end") return "more";
        store.end();
        return "end";
      },
    },
  );
  return { log: useSyncExternalStore(store.subscribe, store.read), progress, refusal };
}
