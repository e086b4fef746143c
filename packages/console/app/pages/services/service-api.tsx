import { Group, Select, Skeleton, Stack, Switch, Text, Title } from "@mantine/core";
import { useState } from "react";
import type { Service } from "@platform/contract/platform-api/services";
import type { Subscription } from "@platform/contract/platform-api/subscriptions";
import { toCallCurl, toCallJava, toCallJavaScript, toCallPython } from "@platform/contract/snippets/calls";
import type { ShownCall, Waiting } from "@platform/contract/snippets/calls";
import { pages, q, useFetched, useLoadedPages } from "../../api/queries.ts";
import { ChoiceTabs } from "../../ui/choice-tabs.tsx";
import { Code } from "../../ui/code.tsx";
import { EmptyState } from "../../ui/empty-state.tsx";
import { Failure } from "../../ui/failure.tsx";
import { createKey } from "../../util/keys.ts";
import { formatCount } from "../../util/units.ts";
import { ClientDownloads } from "../marketplace/clients.tsx";

const LANGUAGES = [
  { label: "curl", language: "bash", write: toCallCurl },
  { label: "Python", language: "python", write: toCallPython },
  { label: "JavaScript", language: "javascript", write: toCallJavaScript },
  { label: "Java", language: "java", write: toCallJava },
] as const;

const WAITS: readonly { readonly value: Waiting; readonly label: string }[] = [
  { value: "wait", label: "Long-poll (Prefer: wait)" },
  { value: "poll", label: "Poll every 2 seconds" },
  { value: "events", label: "Events (SSE)" },
];

/** How this organisation's applications call the service. */
export function ServiceApi({ service: { key, name, latestVersion } }: { readonly service: Service }) {
  const { items, hasMore } = useLoadedPages(pages("listSubscriptions", { query: { limit: 100 } }));
  if (latestVersion === null)
    return (
      <EmptyState title="No live version" command="platform up">
        Nothing can be called until a version has been built.
      </EmptyState>
    );
  const subscriptions = items.filter(({ serviceKey, endpointUrl }) => serviceKey === key && endpointUrl);
  return (
    <Stack>
      {subscriptions.length === 0 ? (
        <EmptyState
          title={
            hasMore
              ? `None of the newest ${formatCount(items.length)} subscriptions is of this service`
              : "No application has subscribed"
          }
          command={`platform run ${name} --data '{}'`}
        >
          The command starts it as a job of this organisation. For calls by a program, publish the service,
          create an application and subscribe it: its endpoint URL is then shown here.
        </EmptyState>
      ) : (
        <Call serviceKey={key} version={latestVersion} subscriptions={subscriptions} />
      )}
      <Title order={2} fz="lg">
        Clients of version {latestVersion}
      </Title>
      <ClientDownloads serviceKey={key} serviceName={name} version={latestVersion} />
    </Stack>
  );
}

interface CallProps {
  readonly serviceKey: string;
  readonly version: string;
  readonly subscriptions: readonly Subscription[];
}

/** The call by one of the subscriptions, as programs. */
function Call({ serviceKey, version, subscriptions }: CallProps) {
  const [chosen, choose] = useState(subscriptions[0]?.id);
  const configuration = useFetched(q("getConfiguration", {}));
  const details = useFetched(q("getVersion", { params: { key: serviceKey, version } }));
  const nameOf = useNames();
  const one = subscriptions.find(({ id }) => id === chosen) ?? subscriptions[0];
  const keyId = useKeyId(one?.applicationId ?? "");
  const error = configuration.error ?? details.error;
  if (error !== null)
    return <Failure error={error} retry={() => [configuration, details].forEach(({ retry }) => retry())} />;
  if (!one?.endpointUrl || configuration.data === undefined || details.data === undefined)
    return <Skeleton height={320} />;
  return (
    <>
      <Select
        label="Subscription"
        data={subscriptions.map(({ id, applicationId }) => ({ value: id, label: nameOf(applicationId) }))}
        value={one.id}
        onChange={(id) => choose(id ?? undefined)}
        allowDeselect={false}
        maw={320}
      />
      <Programs
        call={{
          tokenUrl: `${configuration.data.gatewayUrl}/token`,
          endpointUrl: one.endpointUrl,
          keyId,
          body: JSON.stringify(details.data.exampleInput ?? { data: {}, params: {} }),
        }}
      />
    </>
  );
}

/** Names of applications, of which a subscription has the identifier. */
function useNames(): (id: string) => string {
  const { data } = useFetched(q("listApplications", { query: { limit: 100 } }));
  return (id) => data?.items.find((one) => one.id === id)?.name ?? id;
}

/** A key of the application that is active; who may not see keys reads its id from the environment. */
function useKeyId(applicationId: string): string | undefined {
  const { data } = useFetched(q("listAccessKeys", { params: { id: applicationId } }));
  return data?.items.find(({ revokedAt }) => revokedAt === null)?.keyId;
}

/** The call in each language, and what it does besides. */
function Programs({ call }: { readonly call: Omit<ShownCall, "waiting"> }) {
  const [waiting, setWaiting] = useState<Waiting>("wait");
  const [isRepeatable, setRepeatable] = useState(false);
  const [key] = useState(createKey);
  const shown = { ...call, waiting, idempotencyKey: isRepeatable ? key : undefined };
  return (
    <>
      <Group align="flex-end">
        <Select
          label="Until it is finished"
          data={[...WAITS]}
          value={waiting}
          onChange={(value) => setWaiting(WAITS.find((way) => way.value === value)?.value ?? "wait")}
          allowDeselect={false}
        />
        <Switch
          label="Idempotency-Key"
          checked={isRepeatable}
          onChange={(event) => setRepeatable(event.currentTarget.checked)}
          mb={8}
        />
      </Group>
      <Text maw="78ch" fz="sm" c="dimmed">
        The secret of the access key is read from PLATFORM_ACCESS_KEY_SECRET
        {call.keyId === undefined && ", its id from PLATFORM_ACCESS_KEY_ID"}. With an Idempotency-Key, a start
        that is repeated within 24 hours is the same execution.
      </Text>
      <ChoiceTabs
        label="Language"
        choices={LANGUAGES.map(({ label, language, write }) => ({
          label,
          content: () => <Code text={write(shown)} language={language} what={`Call in ${label}`} />,
        }))}
      />
    </>
  );
}
