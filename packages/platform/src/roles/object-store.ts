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
import { StoreUnavailable } from "../objects/object-store.ts";
import type { ObjectStore } from "../objects/object-store.ts";
import { BucketUnusable, openS3Objects } from "../objects/s3-objects.ts";
import type { HostProcess } from "./host-process.ts";

/** What of a process the store is opened with. */
export interface ObjectStoreHost extends Pick<HostProcess, "closers"> {
  readonly logger: Pick<Logger, "warn">;
  readonly config: Pick<Config, "s3" | "objectCacheBytes">;
}

/**
 * The store of objects that the settings name. A process starts also while an S3 service does not answer, since executions of prepared
 * versions need none; what is wrong with the settings is said now.
 *
 * @throws StartError
 */
export async function openObjectStore(
  { config, logger, closers }: ObjectStoreHost,
  data: Pick<DataDirectory, "objects" | "objectCache">,
  disk: Pick<DiskGuard, "addRoom">,
): Promise<ObjectStore> {
  const { s3 } = config;
  if (s3 === null) return createLocalObjects(data.objects);
  const store = await openS3Objects({
    settings: s3,
    incoming: join(data.objects, INCOMING),
    onUnavailable: warnOfFailures(logger),
  });
  closers.add("object store", async () => store.close());
  try {
    await store.check();
  } catch (error) {
    if (error instanceof BucketUnusable) throw new StartError(error.message, { cause: error });
    if (!(error instanceof StoreUnavailable)) throw error;
    logger.warn(
      { err: error, bucket: s3.bucket },
      "the S3 service does not answer; it is asked again when it is needed",
    );
  }
  if (config.objectCacheBytes === 0) return store;
  const cache = await openObjectCache({
    directory: data.objectCache,
    maxBytes: config.objectCacheBytes,
    fetchTo: store.fetchTo,
  });
  closers.add("object cache", cache.close);
  disk.addRoom(cache.giveRoom);
  return withCache(store, cache);
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
