import type { PreviousUpload, UrlStorage } from "tus-js-client";
import { createKey } from "../util/keys.ts";
import { readStored, store } from "../util/storage.ts";

/** What tells a file, and where it goes: the same file of the same user goes on where it was cut off, no other does. */
export interface UploadTarget {
  readonly userId: string;
  readonly organizationId: string;
  readonly poolId: string;
  readonly name: string;
  readonly bytes: number;
  /** Milliseconds since the Unix epoch: a file that was changed is another one. */
  readonly modifiedAt: number;
}

/** An upload that was begun and is not finished. */
export interface RememberedUpload {
  readonly key: string;
  readonly target: UploadTarget;
  /** Its address at the platform, which needs a session. */
  readonly url: string;
  readonly sent: number;
}

/** The platform forgets unfinished uploads; the browser keeps the newest of them. */
const MOST = 50;

/** Names a target for tus. */
export function toFingerprint({
  userId,
  organizationId,
  poolId,
  name,
  bytes,
  modifiedAt,
}: UploadTarget): string {
  return JSON.stringify([userId, organizationId, poolId, name, bytes, modifiedAt]);
}

/** All that the browser keeps; what it cannot read is nothing. */
export function listRemembered(): readonly RememberedUpload[] {
  try {
    const found: unknown = JSON.parse(readStored("uploads") ?? "[]");
    return Array.isArray(found) ? found.filter(isRemembered) : [];
  } catch {
    return [];
  }
}

function isRemembered(found: unknown): found is RememberedUpload {
  const { key, url, sent, target } = Object(found) as Partial<RememberedUpload>;
  return (
    typeof key === "string" &&
    typeof url === "string" &&
    typeof sent === "number" &&
    typeof target === "object" &&
    target !== null
  );
}

function keep(uploads: readonly RememberedUpload[]): void {
  store("uploads", JSON.stringify(uploads.slice(-MOST)));
}

/** Notes how much of a target has arrived. */
export function noteSent(target: UploadTarget, sent: number): void {
  const name = toFingerprint(target);
  keep(listRemembered().map((one) => (toFingerprint(one.target) === name ? { ...one, sent } : one)));
}

/** Forgets an upload. */
export function forget(key: string): void {
  keep(listRemembered().filter((one) => one.key !== key));
}

/** Forgets whatever was begun for a target. */
export function forgetTarget(target: UploadTarget): void {
  const name = toFingerprint(target);
  keep(listRemembered().filter((one) => toFingerprint(one.target) !== name));
}

/** What tus asks where it left off. */
export function createUrlStorage(target: UploadTarget): UrlStorage {
  return {
    findAllUploads: async () => listRemembered().map(toPrevious),
    findUploadsByFingerprint: async (fingerprint) =>
      listRemembered()
        .filter((one) => toFingerprint(one.target) === fingerprint)
        .map(toPrevious),
    removeUpload: async (key) => forget(key),
    addUpload: async (fingerprint, { uploadUrl }) => {
      const others = listRemembered().filter((one) => toFingerprint(one.target) !== fingerprint);
      const key = createKey();
      if (uploadUrl !== null) keep([...others, { key, target, url: uploadUrl, sent: 0 }]);
      return key;
    },
  };
}

function toPrevious({ key, target, url }: RememberedUpload): PreviousUpload {
  return {
    size: target.bytes,
    metadata: {},
    creationTime: "",
    urlStorageKey: key,
    uploadUrl: url,
    parallelUploadUrls: null,
  };
}
