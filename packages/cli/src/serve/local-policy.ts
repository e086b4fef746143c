import { stat } from "node:fs/promises";
import { isAbsolute, relative } from "node:path";
import type { ServicePolicy, TargetService } from "@platform/contract/policy";
import { getMessage } from "@platform/engine/base/thrown";
import type { MemoryStore } from "@platform/engine/store/memory-store";
import { LOCAL_SERVICE } from "./local-service.ts";

/** The policy that the project is served with. */
export interface PolicySettings {
  /** As it is when the server starts. */
  readonly policy: ServicePolicy;
  /** Absolute path of its file, which is read again after edits; null: it does not change. */
  readonly file: string | null;
  /** @throws UserError, other errors of the file */
  readonly read: () => Promise<ServicePolicy>;
}

/** The policy of the moment. */
export interface LocalPolicy {
  /** For starts. */
  readonly service: () => TargetService;
  /**
   * Reads it again where its file has changed; what waits and runs keeps what it was started with, but for limits. Returns what to tell of it;
   * null: nothing new.
   */
  readonly reload: () => Promise<string | null>;
}

/** Limits from now on, and again when the policy changes. */
export function createLocalPolicy(
  { policy: first, file, read }: PolicySettings,
  store: Pick<MemoryStore, "setLimits">,
): LocalPolicy {
  let policy = first;
  /** The state of the file that was read last: what is wrong with it is told once. */
  let seen: string | null = null;
  let isFaulty = false;
  const limit = () => store.setLimits(LOCAL_SERVICE.key, policy.concurrency ?? {});
  limit();
  return {
    service: () => ({ ...LOCAL_SERVICE, policy }),
    reload: async () => {
      const state = file === null ? null : await describeFile(file);
      if (state === seen) return null;
      seen = state;
      try {
        const found = await read();
        if (!isFaulty && JSON.stringify(found) === JSON.stringify(policy)) return null;
        isFaulty = false;
        policy = found;
        limit();
        return "Reloaded the policy: it holds for what is started from now on, its limits at once.";
      } catch (error) {
        isFaulty = true;
        return `The policy was not reloaded, the previous one still holds: ${getMessage(error)}`;
      }
    },
  };
}

/** Differs after each edit, and where the file may be read at last. */
async function describeFile(path: string): Promise<string> {
  try {
    const { size, mtimeMs, ctimeMs, ino } = await stat(path);
    return [size, mtimeMs, ctimeMs, ino].join(" ");
  } catch (error) {
    return getMessage(error);
  }
}

/** The file of the policy as `watchProject` includes it; none where it does not change. */
export function listPolicyFiles(
  settings: Pick<PolicySettings, "file"> | null,
  projectDirectory: string,
): readonly string[] {
  const file = settings?.file ?? null;
  if (file === null) return [];
  const path = relative(projectDirectory, file);
  // On another drive of Windows.
  return isAbsolute(path) ? [] : [path];
}
