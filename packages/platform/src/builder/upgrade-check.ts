import { parseVersion } from "../store/base/columns.ts";
import type { BuildClaim } from "../store/builds/builds.ts";
import type { CalledVersion } from "../store/versions/called-versions.ts";
import type { VersionStore } from "../store/versions/versions.ts";
import { findNeighbours } from "./neighbours.ts";
import { findBreakingChange } from "../versions/schema-changes.ts";

type Schema = Record<string, unknown>;

/** Subscriptions that a new version would break, and by what. */
interface Break {
  readonly called: CalledVersion;
  readonly change: string;
}

/** What is checked: the build, the schema it found, and where to say what does not fail it. */
export interface Upgrade {
  readonly claim: BuildClaim;
  readonly schema: Schema | null;
  readonly onLog: (line: string) => void;
}

/**
 * Why the new version must not be what its number says, as sentences; null: it may. Within a major number it takes what the
 * version before took, and what subscriptions send that it moves to itself; the version after it, if there is one, takes what it takes. With another number, or by force, subscriptions
 * may break: the log counts them. Nobody is named, since whoever may read builds may not list subscribers.
 */
export async function checkUpgrade(versions: VersionStore, upgrade: Upgrade): Promise<string | null> {
  const { claim, schema, onLog } = upgrade;
  const number = parseVersion(claim.version);
  if (number === null) return null;
  const called = await versions.listCalled(claim.organisationId, claim.serviceKey, number);
  const breaks = called.flatMap((one): readonly Break[] => {
    const change = findBreakingChange(one.inputSchema, schema);
    return change === null ? [] : [{ called: one, change }];
  });
  const isAllowed = ({ called: { major } }: Break) => claim.isForced || major !== number.major;
  for (const one of breaks.filter(isAllowed)) {
    onLog(`Version ${claim.version} breaks ${describe(one)}`);
  }
  if (claim.isForced) return null;
  const faults = breaks.filter((one) => !isAllowed(one)).map((one) => `It would break ${describe(one)}`);
  faults.unshift(...(await compareNeighbours(versions, upgrade)));
  return faults.length === 0 ? null : [...faults, "Increase the major version, or use force."].join(" ");
}

/** A higher one is live where its number was named, or where this build was given back and made later. */
async function compareNeighbours(
  versions: VersionStore,
  { claim, schema }: Upgrade,
): Promise<readonly string[]> {
  const { lower, higher } = await findNeighbours(versions, claim);
  const before = lower && findBreakingChange(lower.inputSchema, schema);
  const after = higher && findBreakingChange(schema, higher.inputSchema);
  return [
    ...(lower && before
      ? [`The input changed in a way that breaks callers of ${lower.version}: ${before}.`]
      : []),
    ...(higher && after
      ? [`Version ${higher.version}, which is live, would break callers of ${claim.version}: ${after}.`]
      : []),
  ];
}

function describe({ called: { version, count }, change }: Break): string {
  return `${count === 1 ? "1 subscription that calls" : `${count} subscriptions that call`} ${version} (${change}).`;
}
