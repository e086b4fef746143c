import type { Column } from "../../table/data-table.tsx";
import { AppLink } from "../../ui/link.tsx";

/** The number of a version, or of the build that is to become one, and its page. */
export function createVersionColumn(org: string, key: string): Column<{ readonly version: string }> {
  return {
    id: "version",
    label: "Version",
    cell: ({ version }) => (
      <AppLink to="/o/$org/services/$key/versions/$version" params={{ org, key, version }}>
        {version}
      </AppLink>
    ),
  };
}
