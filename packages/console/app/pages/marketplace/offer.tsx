import { Anchor, Group } from "@mantine/core";
import type { MarketplaceEntry } from "@platform/contract/platform-api/marketplace";
import { useOrganisation } from "../../api/scope.tsx";
import { DataTable } from "../../table/data-table.tsx";
import type { Column } from "../../table/data-table.tsx";
import { CopyLine } from "../../ui/copy-button.tsx";
import { Facts } from "../../ui/facts.tsx";
import { AppLink } from "../../ui/link.tsx";
import { Time } from "../../ui/time.tsx";
import { describeFigures } from "./figures.ts";

/** Who provides a service, and what is kept of its executions. */
export function OfferFacts({ of: one }: { readonly of: MarketplaceEntry }) {
  const { slug: org } = useOrganisation();
  return (
    <Facts
      of={{
        Provider: `${one.providerName} (${one.providerSlug})`,
        Service: `${one.serviceName} ${one.latestVersion}`,
        Key: <CopyLine text={one.serviceKey} what="key of the service" />,
        "In 30 days":
          one.figures === null ? undefined : `${describeFigures(one.figures)}, of executions of others`,
        Contact: one.contact === null ? undefined : <Contact at={one.contact} />,
        "Results are kept": formatDays(one.resultDays),
        "Logs are kept": formatDays(one.logDays),
        Tags:
          one.tags.length === 0 ? undefined : (
            <Group gap="xs">
              {one.tags.map((tag) => (
                <AppLink key={tag} to="/o/$org/marketplace" params={{ org }} search={{ tag }}>
                  {tag}
                </AppLink>
              ))}
            </Group>
          ),
      }}
    />
  );
}

/** An https URL or an email address; the platform takes nothing else. */
function Contact({ at }: { readonly at: string }) {
  if (at.startsWith("https://"))
    return (
      <Anchor href={at} rel="nofollow noreferrer ugc" target="_blank" inherit>
        {at}
      </Anchor>
    );
  return (
    <Anchor href={`mailto:${at.split("@").map(encodeURIComponent).join("@")}`} inherit>
      {at}
    </Anchor>
  );
}

function formatDays(days: number): string {
  return `for ${days} ${days === 1 ? "day" : "days"}`;
}

/** Versions that can be called. */
export function OfferedVersions({ of: { versions } }: { readonly of: MarketplaceEntry }) {
  return (
    <DataTable
      label="Versions"
      columns={VERSION_COLUMNS}
      rows={versions}
      rowKey={({ version }) => version}
      empty={null}
    />
  );
}

const VERSION_COLUMNS: readonly Column<MarketplaceEntry["versions"][number]>[] = [
  { id: "version", label: "Version", cell: ({ version }) => version },
  { id: "created", label: "Created", cell: ({ createdAt }) => <Time at={createdAt} /> },
  {
    id: "clients",
    label: "",
    align: "end",
    cell: ({ version }) => (
      <AppLink to="." search={{ tab: "clients", version } as never}>
        Clients of {version}
      </AppLink>
    ),
  },
];
