import { getRouteApi } from "@tanstack/react-router";
import { pages, useLoadedPages } from "../../api/queries.ts";
import { DataTable } from "../../table/data-table.tsx";
import { useRefusal } from "../../ui/can.tsx";
import { CopyAs } from "../../ui/copy-as.tsx";
import { EmptyState } from "../../ui/empty-state.tsx";
import { Forbidden } from "../../ui/forbidden.tsx";
import { AppLink } from "../../ui/link.tsx";
import { PageHeader } from "../../ui/page-header.tsx";
import { SaveCsv } from "../../ui/save-csv.tsx";
import { useOrganisation } from "../../api/scope.tsx";
import { AUDIT_COLUMNS, CSV_NAMES, toCsvRow } from "./columns.tsx";
import { toAuditCommand, toAuditFilter } from "./filter.ts";
import { FilterBar } from "./filter-bar.tsx";
import { VerifyLog } from "./verify-log.tsx";

const route = getRouteApi("/in/o/$org/audit");

/** Who did what to which resource; for owners. */
export function AuditPage() {
  const refusal = useRefusal("listAuditEvents");
  if (refusal === null) return <AuditLog />;
  return (
    <>
      <PageHeader title="Audit log" />
      <Forbidden reason={refusal} />
    </>
  );
}

function AuditLog() {
  const search = route.useSearch();
  const query = toAuditFilter(search);
  const events = useLoadedPages(pages("listAuditEvents", { query }));
  return (
    <>
      <PageHeader
        title="Audit log"
        description="Who changed what, when and from where, and who was refused. Entries are kept for good: nobody can change or remove one without its showing."
        actions={
          <>
            <VerifyLog />
            <SaveCsv
              op="listAuditEvents"
              request={{ query }}
              what="audit entries"
              toTable={(items) => ({ names: CSV_NAMES, rows: items.map(toCsvRow) })}
            />
            <CopyAs op="listAuditEvents" request={{ query }} command={toAuditCommand(query)} />
          </>
        }
      />
      <FilterBar search={search} />
      <DataTable
        label="Audit log"
        columns={AUDIT_COLUMNS}
        rows={events}
        rowKey={({ id }) => id}
        empty={<NoneMatch />}
      />
    </>
  );
}

/** The making of the organisation is an entry, so there is always one. */
function NoneMatch() {
  const { slug } = useOrganisation();
  return (
    <EmptyState
      title="No entry matches"
      action={
        <AppLink to="/o/$org/audit" params={{ org: slug }} search={{}}>
          Show all
        </AppLink>
      }
    >
      There are entries that these filters leave out. What users do to their own account stands in the log of
      their own organisation.
    </EmptyState>
  );
}
