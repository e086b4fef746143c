import type { Logger } from "@platform/engine/base/logger";
import { startRounds } from "@platform/engine/base/rounds";
import { DAY, HOUR, SECOND } from "@platform/engine/base/time";
import { collectEnvironments } from "@platform/engine/environments/collect-environments";
import type { LocalVersions } from "./local-versions.ts";

/** Environments are built again when they are needed: a project that is looked at once a month should not wait for that. */
const UNUSED_AFTER = 60 * DAY;
/** No build takes so long: its process was killed. */
const ABANDONED_AFTER = DAY;
const PAUSE = { first: 5 * SECOND, every: 12 * HOUR };

interface KeptEnvironments {
  /** That of the environment builder, which all servers of the user share. */
  readonly directory: string;
  readonly versions: Pick<LocalVersions, "renew">;
  readonly logger: Logger;
}

/** Removes environments that no server has used for two months; those of this one are used. Returns a function that ends this, and waits for one folder at most. */
export function keepEnvironments({ directory, versions, logger }: KeptEnvironments): () => Promise<void> {
  const closing = new AbortController();
  const round = async () => {
    await versions.renew();
    const now = Date.now();
    await collectEnvironments(directory, {
      unusedSince: now - UNUSED_AFTER,
      abandonedSince: now - ABANDONED_AFTER,
      signal: closing.signal,
    });
  };
  const stop = startRounds(round, PAUSE, (error) =>
    logger.warn({ err: error }, "environments that nothing uses could not be removed"),
  );
  return async () => {
    closing.abort();
    await stop();
  };
}
