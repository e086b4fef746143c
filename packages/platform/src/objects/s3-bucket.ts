import type * as Sdk from "@aws-sdk/client-s3";
import { setTimeout as delay } from "node:timers/promises";
import { computePause } from "@platform/engine/base/backoff";
import type { Backoff } from "@platform/engine/base/backoff";
import { MEGABYTE } from "@platform/engine/base/bytes";
import { SECOND } from "@platform/engine/base/time";
import type { S3Settings } from "../config/object-settings.ts";
import { StoreFull, StoreUnavailable } from "./object-store.ts";

/** How long a store is waited for, where the client itself sets no limits, and how much is sent at once. */
export interface S3Limits {
  readonly connectMs: number;
  /** Without a byte in either direction. */
  readonly silenceMs: number;
  /** How often a request is sent at most, and the pauses between. */
  readonly tries: number;
  readonly pause: Backoff;
  /** Larger content is sent in parts of this size, at least 5 MB. */
  readonly partBytes: number;
}

/** Together half a minute at most, unless a store accepts connections and then is silent. */
export const S3_LIMITS: S3Limits = {
  connectMs: 5 * SECOND,
  silenceMs: 20 * SECOND,
  tries: 6,
  pause: { firstMs: 1 * SECOND, ceilingMs: 8 * SECOND },
  // A store takes 10,000 parts: 640 GB.
  partBytes: 64 * MEGABYTE,
};

/** Requests that may be open at once: each that reads an object holds one. The client's own bound is 50. */
const MAX_SOCKETS = 500;

/** What a request needs: the client, its commands, and the fields that name the bucket. */
export interface S3Client {
  readonly client: Sdk.S3Client;
  readonly commands: typeof Sdk;
  readonly bucket: string;
}

/** Requests to one bucket. */
export interface Bucket {
  /**
   * Sends a request, and again with pauses while the store does not answer or fails. `run` must be such that it can be repeated.
   *
   * @throws StoreUnavailable, StoreFull; S3Refusal where the answer depends on the object; other errors of `run` as they are
   */
  readonly request: <T>(run: (s3: S3Client) => Promise<T>) => Promise<T>;
  /** `request`, once. */
  readonly requestOnce: <T>(run: (s3: S3Client) => Promise<T>) => Promise<T>;
  /** Runs something with `requestOnce` in it again, with pauses, while that fails for reasons that may pass. @throws what the last try threw */
  readonly repeat: <T>(run: () => Promise<T>) => Promise<T>;
  /** What is under way fails now, and is not tried again. */
  readonly close: () => void;
}

/** An answer that says something about one object; which, depends on the request. */
export class S3Refusal extends Error {
  readonly kind: "missing" | "exists";
  constructor(kind: S3Refusal["kind"], options: ErrorOptions) {
    super(`The object is ${kind}.`, options);
    this.name = "S3Refusal";
    this.kind = kind;
  }
}

/** Does nothing for an object, or an upload, that is not there. @throws all other errors */
export function ignoreMissing(error: unknown): void {
  if (!(error instanceof S3Refusal && error.kind === "missing")) throw error;
}

/** A failure that another try may not meet. */
export class PassingFailure extends StoreUnavailable {}

/** What a bucket is opened with. */
export interface BucketOptions {
  readonly settings: S3Settings;
  readonly limits: S3Limits;
  /** Hears what `request` and `repeat` give up on; the cause says more. */
  readonly onUnavailable?: (error: StoreUnavailable) => void;
}

/** Opens nothing yet: connections are made for requests. The client is loaded here, since it takes 24 MB and 0.15 s. */
export async function openBucket({ settings, limits, onUnavailable }: BucketOptions): Promise<Bucket> {
  const commands = await import("@aws-sdk/client-s3");
  const agent = { keepAlive: true, maxSockets: MAX_SOCKETS };
  const client = new commands.S3Client({
    region: settings.region,
    ...(settings.endpoint === null ? {} : { endpoint: settings.endpoint, forcePathStyle: true }),
    ...(settings.credentials === null ? {} : { credentials: settings.credentials }),
    // It cannot repeat a request whose body is a stream.
    maxAttempts: 1,
    // What is read is compared with its name.
    responseChecksumValidation: "WHEN_REQUIRED",
    logger: SILENT,
    requestHandler: {
      connectionTimeout: limits.connectMs,
      socketTimeout: limits.silenceMs,
      httpAgent: agent,
      httpsAgent: agent,
    },
  });
  const s3 = { client, commands, bucket: settings.bucket };
  const closing = new AbortController();
  const requestOnce: Bucket["requestOnce"] = async (run) => {
    try {
      return await run(s3);
    } catch (error) {
      throw explain(error);
    }
  };
  const repeat: Bucket["repeat"] = async (run) => {
    for (let failures = 0; ; failures++) {
      try {
        return await run();
      } catch (error) {
        if (closing.signal.aborted) throw error;
        const isLast = !(error instanceof PassingFailure) || failures + 1 >= limits.tries;
        if (isLast && error instanceof StoreUnavailable) onUnavailable?.(error);
        if (isLast) throw error;
        const pause = delay(computePause(limits.pause, failures), undefined, { signal: closing.signal });
        await pause.catch(() => {
          throw error;
        });
      }
    }
  };
  return {
    request: (run) => repeat(() => requestOnce(run)),
    requestOnce,
    repeat,
    close: () => {
      closing.abort();
      client.destroy();
    },
  };
}

/** Without one it writes to the console. Its errors are thrown as well. */
const SILENT = { debug: ignore, info: ignore, warn: ignore, error: ignore };

function ignore(): void {
  return undefined;
}

/** Names of errors by the store: their status alone does not say it. */
const FULL = new Set(["QuotaExceeded", "InsufficientStorage", "XMinioStorageFull"]);
const PASSING = new Set([
  "RequestTimeout",
  "RequestTimeTooSkewed", // the client has set its clock by this answer
  "BadDigest",
  "XAmzContentChecksumMismatch",
]);

/** What a failed request means for who has asked. */
export function explain(error: unknown): unknown {
  if (error instanceof LocalFailure) return error.cause;
  if (error instanceof StoreUnavailable || error instanceof StoreFull || error instanceof S3Refusal)
    return error;
  const { name, status } = readFailure(error);
  const options = { cause: error };
  if (FULL.has(name) || status === 507) return new StoreFull(options);
  if (status === 404 && name !== "NoSuchBucket") return new S3Refusal("missing", options);
  if (status === 412) return new S3Refusal("exists", options);
  const reason = "The store of objects cannot be used at present. Try again later.";
  return mayPass(name, status) ? new PassingFailure(reason, options) : new StoreUnavailable(reason, options);
}

/** No answer, a conflict with another request, too many requests, or a fault of the service. */
function mayPass(name: string, status: number | null): boolean {
  return status === null || status === 409 || status === 429 || status >= 500 || PASSING.has(name);
}

/** A failure on this machine in the course of a request. */
export class LocalFailure extends Error {}

/** status null: there was no answer, or it broke off. */
function readFailure(error: unknown): { readonly name: string; readonly status: number | null } {
  if (!(error instanceof Error)) return { name: "", status: null };
  const metadata = "$metadata" in error ? error.$metadata : null;
  const isAnswered =
    typeof metadata === "object" &&
    metadata !== null &&
    "httpStatusCode" in metadata &&
    typeof metadata.httpStatusCode === "number";
  return { name: error.name, status: isAnswered ? Number(metadata.httpStatusCode) : null };
}
