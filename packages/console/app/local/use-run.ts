import { useEffect, useEffectEvent, useRef, useState } from "react";
import type { RequestRefused } from "@platform/contract/client";
import type { StatusRecord } from "@platform/contract/execution";
import { follow } from "../api/follow.ts";
import type { LocalApi } from "../api/local.ts";
import { createLogStore } from "../execution/log-store.ts";
import type { LogLine, LogStore } from "../execution/log-store.ts";
import { useStartKey } from "../try-it/use-start-key.ts";
import { keepDraft, readDraft } from "../util/storage.ts";
import { readOutcome } from "./read-outcome.ts";
import type { Outcome } from "./read-outcome.ts";

/** Under which the id of the newest execution is kept in the tab. */
const KEPT = "local-run";
/** Answers up to so many bytes are shown. */
const SHOWN_BYTES = 1_048_576;

/** One execution of the page. */
export interface Run {
  readonly record: StatusRecord;
  readonly log: LogStore;
  /** null: it has not ended, or is not read yet. */
  readonly outcome: Outcome | null;
  /** Why it cannot be followed or read any more; null: it can. */
  readonly error: unknown;
}

interface Running {
  /** null: nothing was run yet. */
  readonly run: Run | null;
  readonly isStarting: boolean;
  /** Whether it is followed, and its end is not read yet. */
  readonly isRunning: boolean;
  /** Why the last start or cancellation was refused. */
  readonly refusal: unknown;
  /** Of a JSON text, sent as it stands. */
  readonly start: (text: string) => void;
  readonly cancel: () => void;
  readonly forgetRefusal: () => void;
}

/** Starts executions, and follows the newest one until its end. What one version of the project has refused, the next one may take. */
export function useRun(api: LocalApi, version: string): Running {
  const [run, setRun] = useState<Run | null>(null);
  const [isStarting, setIsStarting] = useState(false);
  const [refusal, setRefusal] = useState<unknown>(null);
  const [refusing, setRefusing] = useState(version);
  if (refusing !== version) {
    setRefusing(version);
    setRefusal(null);
  }
  const sendOnce = useStartKey();
  const following = useRef<AbortController | null>(null);
  const followOne = (id: string, record: StatusRecord | null) => {
    following.current?.abort();
    following.current = watch(api, id, record, setRun);
  };
  const goOn = useEffectEvent((id: string) => followOne(id, null));
  useEffect(() => {
    // The page was loaded again: what it ran goes on.
    const kept = readDraft(KEPT);
    if (typeof kept === "string") goOn(kept);
    return () => following.current?.abort();
  }, []);
  const start = async (text: string) => {
    setIsStarting(true);
    setRefusal(null);
    try {
      const record = await sendOnce(text, (idempotencyKey) =>
        api.startExecution({ body: { json: text }, idempotencyKey }),
      );
      keepDraft(KEPT, record.id);
      followOne(record.id, record);
    } catch (error) {
      setRefusal(error);
    }
    setIsStarting(false);
  };
  return {
    run,
    isStarting,
    isRunning: run !== null && run.outcome === null && run.error === null,
    refusal,
    start: (text) => void start(text),
    cancel: () => {
      if (run !== null) api.cancelExecution({ params: { id: run.record.id } }).catch(setRefusal);
    },
    forgetRefusal: () => setRefusal(null),
  };
}

/**
 * Follows one until its end, or until it is given up by what is returned.
 *
 * @param record null: not known yet; of an execution that is gone nothing is shown
 */
function watch(
  api: LocalApi,
  id: string,
  record: StatusRecord | null,
  setRun: (change: (former: Run | null) => Run | null) => void,
): AbortController {
  const gone = new AbortController();
  const log = createLogStore(requestAnimationFrame);
  const begin = (known: StatusRecord): Run => ({ record: known, log, outcome: null, error: null });
  if (record !== null) setRun(() => begin(record));
  const change = (changed: Partial<Run>) => {
    if (gone.signal.aborted) return;
    setRun((former) => {
      if (former !== null) return former.log === log ? { ...former, ...changed } : former;
      return changed.record === undefined ? null : { ...begin(changed.record), ...changed };
    });
  };
  void followRun(api, { id, log, signal: gone.signal, change });
  return gone;
}

interface Following {
  readonly id: string;
  readonly log: LogStore;
  readonly signal: AbortSignal;
  readonly change: (changed: Partial<Run>) => void;
}

async function followRun(api: LocalApi, { id, log, signal, change }: Following): Promise<void> {
  const params = { id };
  const seen: { record: StatusRecord | null; fault: RequestRefused | null } = { record: null, fault: null };
  await follow(
    (headers, gone) => api.streamEvents({ params, headers, signal: gone }),
    { lastId: null, hasEnded: false },
    {
      signal,
      onRefused: (error) => (seen.fault = error),
      onEvent: ({ event, data }) => {
        if (event === "end") return "end";
        if (event === "log") log.append(JSON.parse(data) as LogLine[]);
        const { record } = seen;
        if (event === "state") seen.record = JSON.parse(data) as StatusRecord;
        if (event === "progress" && record !== null)
          seen.record = { ...record, progress: JSON.parse(data) as NonNullable<StatusRecord["progress"]> };
        if (seen.record !== null && seen.record !== record) change({ record: seen.record });
        return "more";
      },
    },
  );
  log.end();
  if (signal.aborted) return;
  const { record, fault } = seen;
  if (fault === null) change(await readEnd(api, record, signal).catch((error: unknown) => ({ error })));
  else change({ error: fault });
}

async function readEnd(
  api: LocalApi,
  record: StatusRecord | null,
  signal: AbortSignal,
): Promise<Partial<Run>> {
  if (record === null) return {};
  const response = await api.getResult({ params: { id: record.id }, signal });
  const bytes = Number(response.headers.get("content-length") ?? 0);
  if (bytes > SHOWN_BYTES) {
    await response.body?.cancel();
    return { outcome: { kind: "large", bytes } };
  }
  return { outcome: readOutcome(await response.text(), record.status === "SUCCEEDED") };
}
