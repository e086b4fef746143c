import { formatTimestamp, isFinal } from "@platform/contract/execution";
import type { StatusRecord } from "@platform/contract/execution";
import type { Attempt } from "@platform/contract/retries";
import type { StoredFile } from "../content/result-store.ts";
import type { ExecutionRecord, LogPage, Page, StoredResult } from "../store/execution-store.ts";
import { getStartBy } from "../store/start-deadline.ts";
import type { ExecutionProgress } from "../store/execution-progress.ts";

/** Formats results, lists and logs: the gateway's envelope, or the flat body of the local server. */
export interface Presenter {
  /**
   * Body of a final execution; `url` is its path without a final slash.
   *
   * @param output of one that SUCCEEDED; of others the last checkpoint, null: there is none
   */
  readonly result: (
    record: ExecutionRecord,
    output: StoredResult | Uint8Array | null,
    url: string,
  ) => Uint8Array | string;
  /** The same of an execution that succeeded, around a result that is not in memory. */
  readonly frame: (record: ExecutionRecord, output: StoredResult, url: string) => ResultFrame;
  readonly list: (page: Page<ExecutionRecord>) => unknown;
  readonly log: (page: LogPage) => Uint8Array;
  /** Whether the log of a finished execution is sent in one answer (its pages are then arrays), unless a cursor is given. */
  readonly isLogWhole: boolean;
}

/** A body of which the result is left out. */
export interface ResultFrame {
  readonly head: Uint8Array;
  readonly tail: Uint8Array;
  /** Whether the members of the result, of which there is one at least, are those of the body: without its braces. */
  readonly isFlat: boolean;
}

/** The state as on the wire; absent fields are left out, times are in UTC. */
export function toStatusRecord(record: ExecutionRecord): StatusRecord {
  const startBy = getStartBy(record);
  return {
    id: record.id,
    status: record.status,
    createdAt: formatTimestamp(record.createdAt),
    ...(startBy === null ? {} : { startBy: formatTimestamp(startBy) }),
    ...(record.startedAt === null ? {} : { startedAt: formatTimestamp(record.startedAt) }),
    ...(record.endedAt === null ? {} : { endedAt: formatTimestamp(record.endedAt) }),
    ...(record.attempts === undefined ? {} : { attempts: toAttempts(record) }),
    ...(record.sandboxLevel === null ? {} : { sandboxLevel: record.sandboxLevel }),
    ...(record.expiresAt === undefined ? {} : { expiresAt: formatTimestamp(record.expiresAt) }),
    ...(record.logExpiresAt === undefined ? {} : { logExpiresAt: formatTimestamp(record.logExpiresAt) }),
    ...(record.waiting === undefined ? {} : { waiting: record.waiting }),
    ...(record.live !== undefined && "leaseUntil" in record.live
      ? { lease: { until: formatTimestamp(record.live.leaseUntil) } }
      : {}),
    ...(record.progress === undefined ? {} : { progress: toProgress(record.progress) }),
    terminal: isFinal(record.status),
  };
}

/** All attempts of an execution, as on the wire: those that are over and, unless it waits for it, the last; none where there is but one. */
export function toAttempts({ attempts = [], startedAt, endedAt, failure }: ExecutionRecord): Attempt[] {
  if (attempts.length === 0) return [];
  const over = attempts.map(({ number, ...attempt }) => ({
    attempt: number,
    startedAt: formatTimestamp(attempt.startedAt),
    endedAt: formatTimestamp(attempt.endedAt),
    code: attempt.code,
    ...(attempt.detail === "" ? {} : { detail: attempt.detail }),
  }));
  if (startedAt === null) return over;
  const last = {
    attempt: over.length + 1,
    startedAt: formatTimestamp(startedAt),
    ...(endedAt === null ? {} : { endedAt: formatTimestamp(endedAt) }),
    ...(failure === null ? {} : { code: failure.code }),
  };
  return [...over, last];
}

function toProgress({
  fraction,
  message,
  at,
  checkpointAt,
}: ExecutionProgress): NonNullable<StatusRecord["progress"]> {
  return {
    ...(fraction === null ? {} : { fraction, message: message ?? "" }),
    at: formatTimestamp(at),
    ...(checkpointAt === null ? {} : { checkpointAt: formatTimestamp(checkpointAt) }),
  };
}

/** `{result, metadata, _links, _embedded}`, or `{code, detail, _links, _embedded}`. */
export const hostedPresenter: Presenter = {
  result: (record, output, url) => {
    if (output === null || output instanceof Uint8Array)
      return describeFailure(record, output, describeHosted(record, url, []));
    const { head, tail } = frameHosted(record, output, url);
    return Buffer.concat([head, output.result, tail]);
  },
  frame: (record, output, url) => ({ ...frameHosted(record, output, url), isFlat: false }),
  list: (page) => page.items.map(toStatusRecord),
  log: (page) => page.lines,
  isLogWhole: true,
};

/** The service's output as top-level fields, `_links.status`, `_embedded.status` and `_embedded.metadata` beside them. */
export const localPresenter: Presenter = {
  result: (record, output, url) => {
    if (output === null || output instanceof Uint8Array)
      return describeFailure(record, output, describeLocal(record, null, url));
    const tail = describeLocal(record, output, url);
    const fields = Buffer.from(output.result).subarray(1, -1);
    return Buffer.concat([
      Buffer.from("{"),
      fields,
      Buffer.from(`${fields.toString("latin1").trim() === "" ? "" : ","}${tail.slice(1)}`),
    ]);
  },
  frame: (record, output, url) => ({
    head: Buffer.from("{"),
    tail: Buffer.from(`,${describeLocal(record, output, url).slice(1)}`),
    isFlat: true,
  }),
  list: hostedPresenter.list,
  log: hostedPresenter.log,
  isLogWhole: true,
};

/** Code and detail, the last checkpoint as the bytes that came of the run, and the members of `tail`, an object that is not empty. */
function describeFailure(
  { failure }: ExecutionRecord,
  checkpoint: Uint8Array | null,
  tail: string,
): Uint8Array | string {
  if (checkpoint === null) return joinObjects(JSON.stringify(failure ?? {}), tail);
  const head = JSON.stringify({ ...failure, partial: true });
  return Buffer.concat([
    Buffer.from(`${head.slice(0, -1)},"result":`),
    checkpoint,
    Buffer.from(`,${tail.slice(1)}`),
  ]);
}

function frameHosted(record: ExecutionRecord, { metadata, output }: StoredResult, url: string) {
  return {
    head: Buffer.from('{"result":'),
    tail: Buffer.concat([
      Buffer.from(',"metadata":'),
      metadata ?? Buffer.from("null"),
      Buffer.from(`,${describeHosted(record, url, output?.files ?? []).slice(1)}`),
    ]),
  };
}

/** One for each file, by its name, which is none of the others. */
function linkFiles(
  files: readonly StoredFile[],
  url: string,
): Readonly<Record<string, { readonly href: string }>> {
  return Object.fromEntries(
    files.map(({ name }) => [name, { href: `${url}/result/${encodeURIComponent(name)}` }]),
  );
}

function describeHosted(record: ExecutionRecord, url: string, files: readonly StoredFile[]): string {
  return JSON.stringify({
    _links: { self: { href: `${url}/result` }, status: { href: url }, ...linkFiles(files, url) },
    _embedded: { status: toStatusRecord(record) },
  });
}

function describeLocal(record: ExecutionRecord, output: StoredResult | null, url: string): string {
  const links = JSON.stringify({ status: { href: url }, ...linkFiles(output?.output?.files ?? [], url) });
  const status = JSON.stringify(toLocalStatus(record));
  // As bytes: among the top-level fields they could be taken for one of the service.
  const metadata = output?.metadata ? `,"metadata":${Buffer.from(output.metadata).toString()}` : "";
  return `{"_links":${links},"_embedded":{"status":${status}${metadata}}}`;
}

/** The gateway's bodies, with lists and logs paged as everywhere in the platform API. */
export const jobPresenter: Presenter = {
  result: hostedPresenter.result,
  frame: hostedPresenter.frame,
  list: (page) => ({ items: page.items.map(toStatusRecord), nextCursor: page.nextCursor }),
  log: ({ lines, nextCursor }) =>
    Buffer.concat([
      Buffer.from('{"items":'),
      lines,
      Buffer.from(`,"nextCursor":${JSON.stringify(nextCursor)}}`),
    ]),
  isLogWhole: false,
};

function toLocalStatus(record: ExecutionRecord): Readonly<Record<string, string | null>> {
  return {
    id: record.id,
    status: record.status,
    created_at: formatTimestamp(record.createdAt),
    started_at: record.startedAt === null ? null : formatTimestamp(record.startedAt),
    ended_at: record.endedAt === null ? null : formatTimestamp(record.endedAt),
  };
}

/** Two JSON objects as one; the second is never empty. */
function joinObjects(first: string, second: string): string {
  return first === "{}" ? second : `${first.slice(0, -1)},${second.slice(1)}`;
}
