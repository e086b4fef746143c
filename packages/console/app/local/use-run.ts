import { useEffect, useRef, useState } from "react";
import type { RequestRefused } from "@platform/contract/client";
import type { StatusRecord } from "@platform/contract/execution";
import { follow } from "../api/follow.ts";
import type { LocalApi } from "../api/local.ts";
import { createLogStore } from "../execution/log-store.ts";
import type { LogLine, LogStore } from "../execution/log-store.ts";
import { readOutcome } from "./read-outcome.ts";
import type { Outcome } from "./read-outcome.ts";

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
  const following = useRef<AbortController | null>(null);
  useEffect(() => () => following.current?.abort(), []);
  const start = async (text: string) => {
    setIsStarting(true);
    setRefusal(null);
    try {
      const record = await api.startExecution({ body: { json: text } });
      following.current?.abort();
      const gone = new AbortController();
      following.current = gone;
      const log = createLogStore(requestAnimationFrame);
      setRun({ record, log, outcome: null, error: null });
      const change = (changed: Partial<Run>) => {
        if (!gone.signal.aborted)
          setRun((former) => (former?.log === log ? { ...former, ...changed } : former));
      };
      void followRun(api, { id: record.id, log, signal: gone.signal, change });
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
