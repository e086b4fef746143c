import type { Logger } from "@platform/engine/base/logger";
import { startRounds } from "@platform/engine/base/rounds";
import { DAY, HOUR, SECOND } from "@platform/engine/base/time";
import { collectEnvironments } from "@platform/engine/environments/collect-environments";
import type { LocalVersions } from "./local-versions.ts";

/** Environments are built again when they are needed: a project that is looked at once a month should not wait for that. */
const UNUSED_AFTER = 60 * DAY;
/** No build takes so long: its process was killed. */
const ABANDONED_AFTER = DAY;
/** A server that does not run for two months, though it is not ended (its machine is suspended), may lose its environment. */
const PAUSE = { first: 5 * SECOND, every: 12 * HOUR };

interface CollectionOptions {
  /** That of the environment builder, which all servers of the user share. */
  readonly directory: string;
  readonly versions: Pick<LocalVersions, "renew">;
}

/** Collects from time to time. Returns a function that ends this, and waits for one folder at most. */
export function startEnvironmentCollection(
  options: CollectionOptions & { readonly logger: Logger },
): () => Promise<void> {
  const closing = new AbortController();
  const stop = startRounds(
    () => collectUnused(options, closing.signal),
    PAUSE,
    (error) => options.logger.warn({ err: error }, "not all environments that nothing uses could be removed"),
  );
  return async () => {
    closing.abort();
    await stop();
  };
}

/** Removes environments, and downloads for them, that no server has used for two months. This one uses its own. @throws Error */
export async function collectUnused(
  { directory, versions }: CollectionOptions,
  signal: AbortSignal,
): Promise<void> {
  await versions.renew();
  const now = Date.now();
  await collectEnvironments(directory, {
    unusedSince: now - UNUSED_AFTER,
    abandonedSince: now - ABANDONED_AFTER,
    signal,
  });
}
