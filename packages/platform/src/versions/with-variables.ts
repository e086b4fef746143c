import { createHash } from "node:crypto";
import { createCache } from "@platform/engine/base/cache";
import { SECOND } from "@platform/engine/base/time";
import type { RunnableVersion } from "@platform/engine/python/port/runtime";
import type { VersionSource } from "@platform/engine/store/execution-store";
import type { RunVariables } from "../secrets/variables.ts";

/** Where the values come from. */
export interface VariableSource {
  /** What runs of a version get. */
  readonly readOfVersion: (versionId: string) => Promise<RunVariables>;
  /** Calls back when values may have changed. Returns a function that stops it. */
  readonly subscribe: (listener: () => void) => () => void;
}

/** After this time values are read again, also without a notification. */
const FRESH_MS = 5 * SECOND;
const MAX_KNOWN = 1_000;

/**
 * Adds their variables to versions. A warm process has the values that it was started with, so other values make it another one: the id
 * says which they are, and the process with the former ones is ended by `retire` when its runs are.
 */
export function withVariables(
  source: VersionSource,
  variables: VariableSource,
  retire: (id: string) => Promise<void>,
): VersionSource & { readonly close: () => void } {
  const known = createCache<KnownVariables>({ ttlMs: FRESH_MS, maxEntries: MAX_KNOWN });
  // Bounded: of a version that is dropped, a process with former values ends when it has been idle for long enough.
  const used = createCache<string>({ maxEntries: MAX_KNOWN });
  const read = async (versionId: string): Promise<KnownVariables> => {
    const found = await variables.readOfVersion(versionId);
    return { ...found, fingerprint: takeFingerprint(found) };
  };
  const close = variables.subscribe(known.clear);
  return {
    close,
    prepare: async (versionId, signal) => {
      const [version, values] = await Promise.all([
        source.prepare(versionId, signal),
        known.peek(versionId) ?? known.get(versionId, () => read(versionId)),
      ]);
      const prepared = add(version, values);
      const former = used.peek(versionId) ?? prepared.id;
      used.set(versionId, prepared.id);
      if (former !== prepared.id) void retire(former).catch(() => undefined);
      return prepared;
    },
  };
}

/** The version with these variables. */
export function addVariables(version: RunnableVersion, variables: RunVariables): RunnableVersion {
  return add(version, { ...variables, fingerprint: takeFingerprint(variables) });
}

/** Variables of a version, and what names them; computed once, since they may be hundreds of KB. */
interface KnownVariables extends RunVariables {
  readonly fingerprint: string;
}

/** The list of secrets stays the same one: what finds them in logs is made once for it. */
function add(version: RunnableVersion, { values, secrets, fingerprint }: KnownVariables): RunnableVersion {
  if (Object.keys(values).length === 0) return version;
  return {
    ...version,
    id: `${version.id}.${fingerprint}`,
    variables: { ...version.variables, ...values },
    secrets,
  };
}

function takeFingerprint({ values, secrets }: RunVariables): string {
  return createHash("sha256")
    .update(JSON.stringify([values, secrets]))
    .digest("hex")
    .slice(0, 16);
}
