import { join } from "node:path";
import { readMonotonic } from "@platform/engine/base/monotonic";
import { MINUTE } from "@platform/engine/base/time";
import type { Logger } from "@platform/engine/base/logger";
import type { Config } from "../config/config.ts";
import type { DiskGuard } from "../disk/disk-guard.ts";
import type { DataDirectory } from "../host/data-directory.ts";
import { StartError } from "../host/start-error.ts";
import { INCOMING, createLocalObjects } from "../objects/local-objects.ts";
import { openObjectCache, withCache } from "../objects/object-cache.ts";
import type { ObjectCache } from "../objects/object-cache.ts";
import { StoreUnavailable } from "../objects/object-store.ts";
import type { ObjectStore } from "../objects/object-store.ts";
import { BucketUnusable, openS3Objects } from "../objects/s3-objects.ts";
import { refuseWhileDown, watchStore } from "../objects/store-watch.ts";
import type { StoreWatch, WatchTimes } from "../objects/store-watch.ts";
import type { HostProcess } from "./host-process.ts";

/** What of a process the store is opened with. */
export interface ObjectStoreHost extends Pick<HostProcess, "closers"> {
  readonly logger: Pick<Logger, "info" | "warn">;
  readonly config: Pick<Config, "s3" | "objectCacheBytes" | "minFreeDiskBytes">;
  /** When a bucket is looked at; default `WATCH_TIMES`. */
  readonly watchTimes?: WatchTimes;
}

/** The store, and whether it can be used. */
export interface OpenedStore {
  readonly store: ObjectStore;
  readonly explain: StoreWatch["explain"];
}

/**
 * The store of objects that the settings name. A process starts also while an S3 service does not answer, since executions of prepared
 * versions need none; what is wrong with the settings is said now.
 *
 * @throws StartError
 */
export async function openObjectStore(
  { config, logger, closers, watchTimes }: ObjectStoreHost,
  data: Pick<DataDirectory, "objects" | "objectCache">,
  disk: Pick<DiskGuard, "addRoom">,
): Promise<OpenedStore> {
  const { s3 } = config;
  // Nothing large is begun below the floor: what has begun may use half of it.
  const spareBytes = config.minFreeDiskBytes / 2;
  if (s3 === null) return { store: createLocalObjects(data.objects, spareBytes), explain: () => null };
  const bucket = await openS3Objects({
    settings: s3,
    incoming: join(data.objects, INCOMING),
    spareBytes,
    onUnavailable: warnOfFailures(logger),
  });
  // What still fetches something fails then, and is not waited for.
  let cache: ObjectCache | null = null;
  closers.add("object store", async () => {
    bucket.close();
    await cache?.close();
  });
  try {
    await bucket.check();
  } catch (error) {
    if (error instanceof BucketUnusable) throw new StartError(error.message, { cause: error });
    if (!(error instanceof StoreUnavailable)) throw error;
    logger.warn(
      { err: error, bucket: s3.bucket },
      "the S3 service does not answer; it is asked again when it is needed",
    );
  }
  const { check } = bucket;
  const watch = watchStore({ check, logger, ...(watchTimes && { times: watchTimes }) });
  closers.add("watch of the object store", watch.close);
  const store = refuseWhileDown(bucket, watch);
  const { explain } = watch;
  if (config.objectCacheBytes === 0) return { store, explain };
  cache = await openObjectCache({
    directory: data.objectCache,
    maxBytes: config.objectCacheBytes,
    fetchTo: store.fetchTo,
  });
  disk.addRoom(cache.giveRoom);
  return { store: withCache(store, cache), explain };
}

/** Says once a minute that the service fails: whoever is refused hears no reason, and the operator needs it. */
function warnOfFailures(logger: ObjectStoreHost["logger"]): (error: Error) => void {
  let last = -Infinity;
  return (error) => {
    const now = readMonotonic();
    if (now - last < MINUTE) return;
    last = now;
    logger.warn({ err: error }, "the S3 service cannot be used; what needs it is refused or tried again");
  };
}
