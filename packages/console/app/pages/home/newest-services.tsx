import { Badge, Text, Title } from "@mantine/core";
import type { Service } from "@platform/contract/platform-api/services";
import { DataTable } from "../../table/data-table.tsx";
import type { Column } from "../../table/data-table.tsx";
import { Time } from "../../ui/time.tsx";

/** The services that were made last. */
export function NewestServices({ services }: { readonly services: readonly Service[] }) {
  if (services.length === 0) return null;
  return (
    <section aria-labelledby="services">
      <Title order={2} fz="lg" mb="sm" id="services">
        Newest services
      </Title>
      <DataTable
        label="Newest services"
        columns={COLUMNS}
        rows={services}
        rowKey={({ key }) => key}
        empty={null}
      />
    </section>
  );
}

const COLUMNS: readonly Column<Service>[] = [
  {
    id: "name",
    label: "Name",
    cell: ({ name }) => (
      <Text span inherit fw={600}>
        {name}
      </Text>
    ),
  },
  { id: "version", label: "Latest version", cell: ({ latestVersion }) => latestVersion ?? "none yet" },
  {
    id: "publication",
    label: "Published",
    cell: ({ publication }) => (publication === null ? "no" : <Badge>{publication}</Badge>),
  },
  { id: "created", label: "Created", cell: ({ createdAt }) => <Time at={createdAt} />, priority: 3 },
];
