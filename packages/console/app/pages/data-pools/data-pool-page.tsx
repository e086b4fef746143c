import { getRouteApi } from "@tanstack/react-router";
import type { DataPool } from "@platform/contract/platform-api/data-pools";
import { q, REFRESH_MS, useChange, useLoaded } from "../../api/queries.ts";
import { useOrganisation } from "../../api/scope.tsx";
import { ChangeDataPool } from "../../forms/change-data-pool.tsx";
import { ConfirmButton } from "../../ui/confirm.tsx";
import { CopyAs } from "../../ui/copy-as.tsx";
import { RoutedDialog } from "../../ui/dialog.tsx";
import { AppLink } from "../../ui/link.tsx";
import { OpenButton } from "../../ui/open-button.tsx";
import { PageHeader } from "../../ui/page-header.tsx";
import { RoutedTabs } from "../../ui/routed-tabs.tsx";
import { toCommandLine } from "../../util/command-line.ts";
import { formatBytes, formatCount } from "../../util/units.ts";
import { Access } from "./access.tsx";
import { Files } from "./files.tsx";
import { toFileFilter } from "./filter.ts";

const route = getRouteApi("/in/o/$org/data-pools/$id");

/** One data pool: its files, and who may use them. */
export function DataPoolPage() {
  const { id } = route.useParams();
  const { rename, q: words } = route.useSearch();
  const { slug: org } = useOrganisation();
  const pool = useLoaded(q("getDataPool", { params: { id } }), { refresh: REFRESH_MS.list });
  return (
    <>
      <PageHeader
        title={pool.name}
        description={describe(pool)}
        above={[
          <AppLink key="all" to="/o/$org/data-pools" params={{ org }}>
            Data pools
          </AppLink>,
        ]}
        actions={
          <>
            <CopyPool id={id} />
            {pool.role === "owner" && (
              <>
                <OpenButton op="putDataPool" set={{ edit: "pool" }} variant="default">
                  Change
                </OpenButton>
                <Delete pool={pool} />
              </>
            )}
          </>
        }
      />
      <RoutedTabs
        label={`Parts of ${pool.name}`}
        tabs={[
          {
            id: "files",
            label: "Files",
            content: () => <Files pool={pool} renaming={rename} words={words} />,
          },
          { id: "access", label: "Access", content: () => <Access pool={pool} /> },
        ]}
      />
      <RoutedDialog title="Change the data pool" when={["edit", "pool"]}>
        {(close) => <ChangeDataPool pool={pool} close={close} />}
      </RoutedDialog>
    </>
  );
}

function describe({ description, fileCount, bytes, role, organizationName }: DataPool): string {
  const size = `${formatCount(fileCount)} ${fileCount === 1 ? "file" : "files"}, ${formatBytes(bytes)}`;
  const owner = role === "owner" ? [] : [`shared by ${organizationName}`];
  return [...(description === "" ? [] : [description]), size, ...owner].join(" · ");
}

function Delete({ pool: { id, name } }: { readonly pool: DataPool }) {
  const { slug: org } = useOrganisation();
  const navigate = route.useNavigate();
  const remove = useChange("deleteDataPool", { done: "Data pool deleted.", refresh: ["listDataPools"] });
  return (
    <ConfirmButton
      op="deleteDataPool"
      label="Delete"
      question={`Delete ${name}?`}
      typed={name}
      run={async () => {
        await remove.run({ params: { id } });
        await navigate({ to: "/o/$org/data-pools", params: { org }, search: {} });
      }}
    >
      Its files go with it, and nothing can be started with references to them any more. Executions that have
      started read what they refer to.
    </ConfirmButton>
  );
}

/** What the open tab shows. */
function CopyPool({ id }: { readonly id: string }) {
  const { tab, q: search } = route.useSearch();
  const shown = { request: { params: { id } }, id } as const;
  if (tab === "access")
    return <CopyAs op="listPoolGrants" {...shown} command={`platform pools access ${id}`} />;
  return (
    <CopyAs
      op="listPoolFiles"
      request={{ ...shown.request, query: toFileFilter(search) }}
      id={id}
      command={toCommandLine(`platform pools ls ${id}`, { search })}
    />
  );
}
