import { Select, Skeleton } from "@mantine/core";
import { getRouteApi } from "@tanstack/react-router";
import { pages, q, useChange, useFetched, useLoaded, useLoadedPages } from "../../api/queries.ts";
import { BeginWith } from "../../try-it/begin-with.tsx";
import { TryForm } from "../../try-it/try-form.tsx";
import { useSetSearch } from "../../ui/dialog.tsx";
import { EmptyState } from "../../ui/empty-state.tsx";
import { Failure } from "../../ui/failure.tsx";
import { AppLink } from "../../ui/link.tsx";
import { PageHeader } from "../../ui/page-header.tsx";
import { showJson } from "../../util/show-json.ts";

const route = getRouteApi("/in/o/$org/services/$key/try");

/** Starts a version as a job of the organisation, with the project's example to begin with. */
export function TryPage() {
  const { org, key } = route.useParams();
  const { version: chosen } = route.useSearch();
  const setSearch = useSetSearch();
  const service = useLoaded(q("getService", { params: { key } }));
  const versions = useLoadedPages(pages("listVersions", { params: { key } }));
  const live = versions.items.filter(({ status }) => status === "LIVE").map(({ version }) => version);
  const version = live.find((one) => one === chosen) ?? service.latestVersion;
  return (
    <>
      <PageHeader
        title={`Try ${service.name}`}
        above={[
          <AppLink key="all" to="/o/$org/services" params={{ org }}>
            Services
          </AppLink>,
          <AppLink key="service" to="/o/$org/services/$key" params={{ org, key }}>
            {service.name}
          </AppLink>,
        ]}
        description="It runs as a job of your organisation: no application and no subscription is needed."
      />
      {version === null ? (
        <EmptyState title="No live version" command="platform up">
          Nothing can be started until a version has been built.
        </EmptyState>
      ) : (
        <>
          <Select
            label="Version"
            data={live}
            value={version}
            onChange={(value) => setSearch({ version: value ?? undefined })}
            allowDeselect={false}
            maw={200}
            mb="md"
          />
          <FormOf key={version} serviceKey={key} version={version} />
        </>
      )}
    </>
  );
}

interface FormOfProps {
  readonly serviceKey: string;
  readonly version: string;
}

function FormOf({ serviceKey, version }: FormOfProps) {
  const { org } = route.useParams();
  const { from } = route.useSearch();
  const navigate = route.useNavigate();
  const { data, error, retry } = useFetched(q("getVersion", { params: { key: serviceKey, version } }));
  const { run, isRunning } = useChange("startJob", { refresh: ["listExecutions", "countExecutions"] });
  if (data === undefined)
    return error === null ? <Skeleton height={320} /> : <Failure error={error} retry={retry} />;
  const query = { serviceKey, version };
  const example = showJson(data.exampleInput ?? { data: {}, params: {} });
  return (
    <BeginWith
      from={from}
      isOne={({ kind, service }) => kind === "job" && service.key === serviceKey}
      example={example}
      of={serviceKey}
    >
      {(begun) => (
        <TryForm
          start={{
            op: "startJob",
            request: { query },
            run: (sent) => run({ query, ...sent }),
            isRunning,
          }}
          begun={begun}
          example={example}
          inputSchema={data.inputSchema}
          onStarted={(id) => navigate({ to: "/o/$org/executions/$id", params: { org, id }, search: {} })}
        />
      )}
    </BeginWith>
  );
}
