import { useEffect, useState } from "react";
import type { LocalTry } from "@platform/contract/local-try";
import { readLocalProject } from "../api/local.ts";
import type { LocalApi } from "../api/local.ts";

/** An edit that was saved is seen on the page this soon, besides what its reload takes. */
const EVERY_MS = 1_000;

/** The project, and whether the server still answers. */
interface Served {
  /** null: it was not read yet. */
  readonly project: LocalTry | null;
  /** Why it could not be read the last time; null: it could. */
  readonly error: unknown;
}

/** The project as it is served, while the page is visible: an edit is on the page as soon as the server has reloaded it. */
export function useProject(api: LocalApi): Served {
  const [served, setServed] = useState<Served>({ project: null, error: null });
  useEffect(() => {
    const gone = new AbortController();
    void watch(api, gone.signal, (read) => setServed((former) => take(former, read)));
    return () => gone.abort();
  }, [api]);
  return served;
}

type Read = Pick<Served, "error"> | { readonly project: LocalTry };

async function watch(api: LocalApi, signal: AbortSignal, tell: (read: Read) => void): Promise<void> {
  while (!signal.aborted) {
    const read = await readLocalProject(api, signal).then(
      (project): Read => ({ project }),
      (error: unknown): Read => ({ error }),
    );
    if (signal.aborted) return;
    tell(read);
    await waitWhileSeen(signal);
  }
}

/** What has not changed stays the same object, so that the page is not drawn again. */
function take(former: Served, read: Read): Served {
  if (!("project" in read)) return { ...former, error: read.error };
  const isSame = JSON.stringify(read.project) === JSON.stringify(former.project);
  return isSame && former.error === null
    ? former
    : { project: isSame ? former.project : read.project, error: null };
}

/** A second, and as long as nobody sees the page. */
async function waitWhileSeen(signal: AbortSignal): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, EVERY_MS));
  if (!document.hidden) return;
  await new Promise<void>((resolve) => {
    const go = () => resolve();
    document.addEventListener("visibilitychange", go, { once: true, signal });
    signal.addEventListener("abort", go, { once: true });
  });
}
