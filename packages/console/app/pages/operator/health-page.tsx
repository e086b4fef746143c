import { Alert, Stack, Text, Title } from "@mantine/core";
import type { Instance } from "@platform/contract/platform-api/operator-instance";
import { q, REFRESH_MS, useLoaded } from "../../api/queries.ts";
import { CopyAs } from "../../ui/copy-as.tsx";
import { Facts } from "../../ui/facts.tsx";
import { isReadOnTheWay } from "../../util/plain-http.ts";
import { formatDuration } from "../../util/times.ts";
import { formatBytes, formatCount } from "../../util/units.ts";
import { OperatorFrame } from "./operator-frame.tsx";
import { Processes } from "./processes.tsx";
import { Queue } from "./queue.tsx";
import { Sandboxes } from "./sandboxes.tsx";

/** Whether the platform is well: what waits and why, its processes, how they isolate user code, the database and the disk. */
export function HealthPage() {
  const instance = useLoaded(q("getInstance", {}), { refresh: REFRESH_MS.list });
  return (
    <OperatorFrame
      title="Health"
      description={`Release ${instance.versions.join(", ") || instance.version}. What each process says of itself, at most 30 seconds old.`}
      actions={<CopyAs op="getInstance" request={{}} command="platform operator instance" />}
    >
      <Stack gap="xl">
        <Faults instance={instance} />
        <PlainHttp apiUrl={instance.apiUrl} />
        <Queue queue={instance.queue} />
        <Processes processes={instance.processes} />
        <Sandboxes processes={instance.processes} />
        <DatabaseFacts database={instance.database} />
        <DiskFacts disk={instance.disk} />
        <section aria-labelledby="access">
          <Title order={2} fz="lg" mb="sm" id="access">
            Addresses and sign-up
          </Title>
          <Facts
            of={{
              "Platform API and console": <span className="mono">{instance.apiUrl}</span>,
              Gateway: <span className="mono">{instance.gatewayUrl}</span>,
              "Sign-up": `${instance.signUp.mode}. ${instance.signUp.how}`,
            }}
          />
        </section>
      </Stack>
    </OperatorFrame>
  );
}

/** First of all, what does not work. */
function Faults({ instance }: { readonly instance: Instance }) {
  const faults = [
    ...instance.processes.flatMap(({ host, pid, faults: all, live }) =>
      live ? all.map(({ part, detail }) => `${part} (${host}, ${pid}): ${detail}`) : [],
    ),
    ...(instance.disk.low
      ? ["The disk has less free space than is kept free: no uploads, builds and new runs."]
      : []),
  ];
  if (faults.length === 0) return <Text>All live processes say that they work.</Text>;
  return (
    <Alert color="red" variant="light" title="Something does not work">
      {faults.map((fault) => (
        <Text key={fault} fz="sm" c="var(--mantine-color-text)">
          {fault}
        </Text>
      ))}
    </Alert>
  );
}

/** The cookie of a session is as safe as the address that browsers use; this one may be another than the settings say. */
function PlainHttp({ apiUrl }: Pick<Instance, "apiUrl">) {
  const plain = [apiUrl, globalThis.location.origin].find(isReadOnTheWay);
  if (plain === undefined) return null;
  return (
    <Alert color="yellow" variant="light" title="Sessions run over plain http">
      <Text fz="sm" c="var(--mantine-color-text)">
        Whoever is on the way to <span className="mono">{plain}</span> reads passwords, tokens and the cookies
        of sessions. Put a proxy with TLS in front, and start the processes with its https address as
        --api-url (PLATFORM_API_URL).
      </Text>
    </Alert>
  );
}

function DatabaseFacts({ database }: { readonly database: Instance["database"] }) {
  return (
    <section aria-labelledby="database">
      <Title order={2} fz="lg" mb="sm" id="database">
        Database
      </Title>
      <Facts
        of={{
          PostgreSQL: `${database.version}, ${database.kind === "embedded" ? "run by the platform" : "run elsewhere"}`,
          Size: formatBytes(database.sizeBytes),
          Connections: `${formatCount(database.connections)} of ${formatCount(database.maxConnections)}`,
          "Oldest transaction": `open for ${formatDuration(database.oldestTransactionSeconds * 1_000)}`,
          "Answered in": formatDuration(database.answeredInMs),
          "Last migration": <span className="mono">{database.migration}</span>,
        }}
      />
    </section>
  );
}

function DiskFacts({ disk }: { readonly disk: Instance["disk"] }) {
  return (
    <section aria-labelledby="disk">
      <Title order={2} fz="lg" mb="sm" id="disk">
        Disk of the process that answers
      </Title>
      <Facts
        of={{
          Free: `${formatBytes(disk.freeBytes)} of ${formatBytes(disk.totalBytes)}`,
          "Stays free": formatBytes(disk.floorBytes),
        }}
      />
    </section>
  );
}
