import { Title } from "@mantine/core";
import type { Service } from "@platform/contract/platform-api/services";
import { useOrganisation } from "../../api/scope.tsx";
import { DataTable } from "../../table/data-table.tsx";
import { createServiceColumns } from "../services/service-columns.tsx";

/** The services that were made last. */
export function NewestServices({ services }: { readonly services: readonly Service[] }) {
  const { slug } = useOrganisation();
  if (services.length === 0) return null;
  return (
    <div>
      <Title order={2} fz="lg" mb="sm">
        Newest services
      </Title>
      <DataTable
        label="Newest services"
        columns={createServiceColumns(slug)}
        rows={services}
        rowKey={({ key }) => key}
        empty={null}
      />
    </div>
  );
}
