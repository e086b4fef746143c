import type { Service } from "@platform/contract/platform-api/services";
import type { Column } from "../../table/data-table.tsx";
import { AppLink } from "../../ui/link.tsx";
import { Time } from "../../ui/time.tsx";
import { PUBLICATION_WORDS } from "./publication.ts";

/** Columns of lists of services. */
export function createServiceColumns(org: string): readonly Column<Service>[] {
  return [
    {
      id: "name",
      label: "Name",
      cell: ({ key, name }) => (
        <AppLink to="/o/$org/services/$key" params={{ org, key }}>
          {name}
        </AppLink>
      ),
    },
    { id: "version", label: "Latest version", cell: ({ latestVersion }) => latestVersion ?? "none is live" },
    {
      id: "publication",
      label: "Who can subscribe",
      cell: ({ publication }) => PUBLICATION_WORDS[publication ?? "none"],
    },
    { id: "created", label: "Created", cell: ({ createdAt }) => <Time at={createdAt} />, priority: 3 },
  ];
}
