import { Group, Select } from "@mantine/core";
import { getRouteApi } from "@tanstack/react-router";
import { useDeferredValue } from "react";
import { SEARCH_LIMITS } from "@platform/contract/search-limits";
import { pages, REFRESH_MS, useLoadedPages } from "../../api/queries.ts";
import { useOrganisation } from "../../api/scope.tsx";
import { StartWithSample } from "../../forms/start-with-sample.tsx";
import { DataTable } from "../../table/data-table.tsx";
import { Can } from "../../ui/can.tsx";
import { CopyAs } from "../../ui/copy-as.tsx";
import { useSetSearch } from "../../ui/dialog.tsx";
import { EmptyState } from "../../ui/empty-state.tsx";
import { ButtonLink } from "../../ui/link.tsx";
import { PageHeader } from "../../ui/page-header.tsx";
import { SearchField } from "../../ui/search-field.tsx";
import { PUBLICATION_WORDS } from "./publication.ts";
import { createServiceColumns } from "./service-columns.tsx";

const route = getRouteApi("/in/o/$org/services");

const CHOICES = [
  { value: "none", label: PUBLICATION_WORDS.none },
  { value: "internal", label: PUBLICATION_WORDS.internal },
  { value: "marketplace", label: PUBLICATION_WORDS.marketplace },
];

function NewButton() {
  const { slug: org } = useOrganisation();
  return (
    <Can op="createService">
      <ButtonLink to="/o/$org/services/new" params={{ org }}>
        New service
      </ButtonLink>
    </Can>
  );
}

/** What the organisation provides. */
export function ServicesPage() {
  const { slug } = useOrganisation();
  const query = useDeferredValue(route.useSearch());
  const { q: name, publication } = query;
  const setSearch = useSetSearch();
  const services = useLoadedPages(pages("listServices", { query }), {
    refresh: REFRESH_MS.list,
  });
  const isFiltered = name !== undefined || publication !== undefined;
  return (
    <>
      <PageHeader
        title="Services"
        description="A service is a Python function with an endpoint, in one or more versions."
        actions={
          <>
            <CopyAs op="listServices" request={{ query }} command="platform services" />
            <NewButton />
          </>
        }
      />
      <Group mb="sm">
        <SearchField
          label="Name contains"
          placeholder="Name contains"
          maxLength={SEARCH_LIMITS.service}
          words={name}
          onSearch={(q) => setSearch({ q })}
        />
        <Select
          aria-label="Who can subscribe"
          placeholder="Any publication"
          data={CHOICES}
          value={publication ?? null}
          onChange={(value) => setSearch({ publication: value ?? undefined })}
          clearable
        />
      </Group>
      <DataTable
        label="Services"
        columns={createServiceColumns(slug)}
        rows={services}
        rowKey={({ key }) => key}
        empty={isFiltered ? <NothingFound /> : <NoServices />}
      />
    </>
  );
}

function NothingFound() {
  return (
    <EmptyState title="No service matches">
      There are services, but none with this name and publication.
    </EmptyState>
  );
}

function NoServices() {
  return (
    <EmptyState
      title="No services yet"
      action={
        <Group gap="sm">
          <NewButton />
          <StartWithSample />
        </Group>
      }
      command="platform init --name my-solver && cd my-solver && platform up"
    >
      A service is a Python function that others call over HTTP. Upload the ZIP file of a project, deploy it
      with the command line, or start with a sample that adds up numbers.
    </EmptyState>
  );
}
