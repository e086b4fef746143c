import { useSyncExternalStore } from "react";
import { RequestRefused } from "@platform/contract/client";
import type { ProblemBody } from "@platform/contract/problems";
import type { DetailedError, Upload, UploadOptions } from "tus-js-client";
import { createKey } from "../util/keys.ts";
import { API_PATH, createHeaders } from "./client.ts";
import { makeStale } from "./queries.ts";
import type { Scope } from "./scope.tsx";
import {
  createUrlStorage,
  forget,
  forgetTarget,
  listRemembered,
  noteSent,
  toFingerprint,
} from "./upload-memory.ts";
import type { RememberedUpload, UploadTarget } from "./upload-memory.ts";

/*
 * Uploads into data pools, by tus. They go on while the user is at another page; what the browser remembers of them goes on after a
 * reload, once the same file is chosen again.
 */

/** An upload of this page. */
export interface PoolUpload {
  readonly id: string;
  readonly target: UploadTarget;
  readonly sent: number;
  /** `interrupted`: the platform could not be reached, and is tried again. */
  readonly state: "queued" | "running" | "interrupted" | "paused" | "failed";
  /** Why it has failed. */
  readonly error: unknown;
}

interface Handle {
  readonly scope: Scope;
  readonly file: File;
  tus: Promise<Upload> | null;
  /** Counts what the user has asked for: what was begun for an earlier wish stops. */
  turn: number;
}

/** Resumed from the last of these, even where a proxy passes on whole requests only; the command line sends as much. */
const PART_BYTES = 8 * 1_024 * 1_024;
const RETRY_DELAYS_MS = [0, 1_000, 3_000, 5_000, 10_000, 20_000];
/** The platform takes eight parts of an organisation at the same time. */
const AT_ONCE = 3;
/** Refusals that pass: another request for the same upload, a file that is being stored. */
const PASSING = new Set([409, 423]);

const handles = new Map<string, Handle>();
const listeners = new Set<() => void>();
let uploads: readonly PoolUpload[] = [];
let remembered: readonly RememberedUpload[] | null = null;

function tell(next: readonly PoolUpload[]): void {
  uploads = next;
  remembered = null;
  for (const listener of listeners) listener();
}

function change(id: string, to: Partial<Pick<PoolUpload, "sent" | "state" | "error">>): void {
  tell(uploads.map((one) => (one.id === id ? { ...one, ...to } : one)));
}

/** What was on its way when the user paused it changes no state. */
function progress(id: string, sent: number): void {
  const isTriedAgain = uploads.some((one) => one.id === id && one.state === "interrupted");
  change(id, { sent, ...(isTriedAgain ? { state: "running" } : {}) });
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** The uploads of this page, newest last. */
export function useUploads(): readonly PoolUpload[] {
  return useSyncExternalStore(subscribe, () => uploads);
}

/** Uploads that an earlier page began, and this one does not carry on. */
export function useRememberedUploads(): readonly RememberedUpload[] {
  const known = useSyncExternalStore(subscribe, () => (remembered ??= listRemembered()));
  const own = new Set(useUploads().map(({ target }) => toFingerprint(target)));
  return known.filter(({ target }) => !own.has(toFingerprint(target)));
}

/** Where a file goes. */
export function toTarget(scope: Scope, poolId: string, file: File): UploadTarget {
  return {
    userId: scope.me?.id ?? "",
    organizationId: scope.organisation?.id ?? "",
    poolId,
    name: file.name,
    bytes: file.size,
    modifiedAt: file.lastModified,
  };
}

/** Uploads files, a few at a time. What was begun before goes on where it was cut off. */
export function startUploads(scope: Scope, poolId: string, files: readonly File[]): void {
  const running = new Set(uploads.map(({ target }) => toFingerprint(target)));
  const added = files
    .map((file) => ({ file, id: createKey(), target: toTarget(scope, poolId, file) }))
    .filter(({ target }) => !running.has(toFingerprint(target)));
  for (const { id, file } of added) handles.set(id, { scope, file, tus: null, turn: 0 });
  tell([
    ...uploads,
    ...added.map(({ id, target }) => ({ id, target, sent: 0, state: "queued", error: null }) as const),
  ]);
  pump();
}

/** Sends no more of it; the platform keeps what has arrived. */
export function pauseUpload(id: string): void {
  change(id, { state: "paused" });
  void stop(id, false);
  pump();
}

/** Goes on with one that was paused or has failed. */
export function continueUpload(id: string): void {
  change(id, { state: "queued", error: null });
  pump();
}

/** Ends it; the platform removes what has arrived. */
export async function giveUpUpload(id: string): Promise<void> {
  const target = uploads.find((one) => one.id === id)?.target;
  change(id, { state: "paused" });
  await stop(id, true).catch(ignoreGone);
  if (target !== undefined) forgetTarget(target);
  drop(id);
}

async function stop(id: string, isForGood: boolean): Promise<void> {
  const handle = handles.get(id);
  if (handle === undefined) return;
  handle.turn += 1;
  await (await handle.tus)?.abort(isForGood);
}

/** The same of one that an earlier page began. */
export async function giveUpRemembered({ key, url, target }: RememberedUpload): Promise<void> {
  const { Upload: Tus } = await import("tus-js-client");
  await Tus.terminate(url, { headers: createHeaders(target) }).catch(ignoreGone);
  forget(key);
  tell(uploads);
}

/** The platform has forgotten it before. */
function ignoreGone(error: unknown): void {
  const refused = toError(error);
  if (refused instanceof RequestRefused && [404, 410].includes(refused.status)) return;
  throw refused;
}

function drop(id: string): void {
  handles.delete(id);
  tell(uploads.filter((one) => one.id !== id));
  pump();
}

function pump(): void {
  const busy = uploads.filter(({ state }) => state === "running" || state === "interrupted").length;
  for (const { id } of uploads
    .filter(({ state }) => state === "queued")
    .slice(0, Math.max(0, AT_ONCE - busy))) {
    change(id, { state: "running" });
    void run(id);
  }
}

async function run(id: string): Promise<void> {
  const handle = handles.get(id);
  const target = uploads.find((one) => one.id === id)?.target;
  if (handle === undefined || target === undefined) return;
  handle.turn += 1;
  const { turn } = handle;
  try {
    handle.tus ??= open(id, handle, target);
    const tus = await handle.tus;
    if (handle.turn === turn) tus.start();
  } catch (error) {
    handle.tus = null;
    change(id, { state: "failed", error });
  }
}

/** Loaded with the first upload: no other page needs it. */
async function open(id: string, handle: Handle, target: UploadTarget): Promise<Upload> {
  const { Upload: Tus } = await import("tus-js-client");
  const tus = new Tus(handle.file, createOptions(id, handle, target));
  const [previous] = await tus.findPreviousUploads();
  if (previous !== undefined) tus.resumeFromPreviousUpload(previous);
  return tus;
}

function createOptions(id: string, { scope, file }: Handle, target: UploadTarget): UploadOptions {
  return {
    endpoint: `${globalThis.location.origin}${API_PATH}/uploads`,
    headers: createHeaders(target),
    metadata: { dataPoolId: target.poolId, filename: file.name, filetype: file.type },
    chunkSize: PART_BYTES,
    retryDelays: RETRY_DELAYS_MS,
    removeFingerprintOnSuccess: true,
    urlStorage: createUrlStorage(target),
    fingerprint: async () => toFingerprint(target),
    onProgress: (sent) => progress(id, sent),
    onChunkComplete: (_, sent) => noteSent(target, sent),
    onShouldRetry: (error) => {
      const status = error.originalResponse?.getStatus() ?? 0;
      const isPassing = status < 400 || status >= 500 || PASSING.has(status);
      if (isPassing) change(id, { state: "interrupted" });
      return isPassing;
    },
    onError: (error) => {
      change(id, { state: "failed", error: toError(error) });
      pump();
    },
    onSuccess: () => {
      drop(id);
      void makeStale(scope, ["listPoolFiles", "getDataPool", "listDataPools"]);
    },
  };
}

/** As the client of the API would have thrown it: what is no answer is a failed connection. */
function toError(error: unknown): unknown {
  const { originalRequest, originalResponse } = error as Partial<DetailedError>;
  if (originalRequest === undefined) return error;
  if (originalResponse === undefined || originalResponse === null) return new TypeError("no answer");
  return new RequestRefused(originalResponse.getStatus(), readProblem(originalResponse.getBody()));
}

function readProblem(body: string): ProblemBody {
  try {
    const found = JSON.parse(body) as Partial<ProblemBody>;
    if (typeof found.code === "string" && typeof found.detail === "string") return found as ProblemBody;
  } catch {
    // Something between the browser and the platform has answered.
  }
  return { code: "UNAVAILABLE", detail: "Something between the browser and the platform has refused." };
}

globalThis.addEventListener("online", () => {
  for (const { id, state, error } of uploads)
    if (state === "failed" && error instanceof TypeError) continueUpload(id);
});
