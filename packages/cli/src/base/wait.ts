import { RequestRefused } from "@platform/contract/client";
import { computePause } from "@platform/engine/base/backoff";
import { SECOND } from "@platform/engine/base/time";
import { isNetworkError } from "./explain-error.ts";

const BACKOFF = { firstMs: 0.25 * SECOND, ceilingMs: 4 * SECOND };
const RETRY_SECONDS = 30;

/** Resolves after `milliseconds`, which may be negative: at once; or as soon as `signal` aborts. */
export function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) {
      resolve();
      return;
    }
    const finish = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", finish);
      resolve();
    };
    // Node.js warns of a negative time on standard error.
    const timer = setTimeout(finish, Math.max(0, milliseconds));
    signal.addEventListener("abort", finish);
  });
}

/**
 * Retries a read that fails with a temporary error (network, 429, 5xx), so that waiting survives a restart of the platform.
 *
 * @throws the last error after `retrySeconds`, or once `signal` aborts; any other error at once
 */
export async function retryRead<T>(
  read: () => Promise<T>,
  signal: AbortSignal,
  retrySeconds = RETRY_SECONDS,
): Promise<T> {
  const deadline = Date.now() + retrySeconds * SECOND;
  for (let failures = 0; ; failures++) {
    try {
      return await read();
    } catch (error) {
      const pauseMs = computePause(BACKOFF, failures);
      if (!isTemporary(error) || signal.aborted || Date.now() + pauseMs > deadline) throw error;
      await pause(pauseMs, signal);
    }
  }
}

function isTemporary(error: unknown): boolean {
  if (error instanceof RequestRefused) return error.status === 429 || error.status >= 500;
  return isNetworkError(error);
}
