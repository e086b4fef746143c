import type { Database } from "../postgres/database.ts";
import { measureBuilds } from "./builds/measure-builds.ts";
import type { BuildMeasure } from "./builds/measure-builds.ts";
import { nameVersions } from "./versions/name-versions.ts";
import type { VersionName } from "./versions/name-versions.ts";

/** What is shown to whoever watches the platform, of all organisations. */
export interface Measures {
  /** Builds that have not ended; a status without any is left out. */
  readonly builds: () => Promise<readonly BuildMeasure[]>;
  /** By id; unknown ids are left out. */
  readonly nameVersions: (ids: readonly string[]) => Promise<ReadonlyMap<string, VersionName>>;
}

/** The measures in PostgreSQL. */
export function createMeasures(database: Database): Measures {
  return {
    builds: () => measureBuilds(database),
    nameVersions: (ids) => nameVersions(database, ids),
  };
}
