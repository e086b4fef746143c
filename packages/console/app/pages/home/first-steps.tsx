import { Button, Code, Group, Paper, Progress, Stack, Text, ThemeIcon, Title } from "@mantine/core";
import { IconCheck, IconCircle } from "@tabler/icons-react";
import { useState } from "react";
import type { ReactNode } from "react";
import type { AnswerOf, OperationId } from "../../api/client.ts";
import { q, REFRESH_MS, useFetched } from "../../api/queries.ts";
import type { Query } from "../../api/queries.ts";
import { useOrganisation } from "../../api/scope.tsx";
import { useRefusal } from "../../ui/can.tsx";
import { CopyButton } from "../../ui/copy-button.tsx";
import { ButtonLink } from "../../ui/link.tsx";
import { anyOf } from "./known-services.ts";
import { useKnownServices } from "./use-known-services.ts";
import { WhoCan } from "./who-can.tsx";

/** One step from nothing to the first call. */
interface FirstStep {
  readonly name: string;
  /** undefined: not known yet. */
  readonly isDone: boolean | undefined;
  readonly text: string;
  /** What it does in the end, which decides who may. */
  readonly op: OperationId;
  readonly command?: string;
  readonly action?: ReactNode;
}

const JOBS = q("listExecutions", { query: { kind: "job", status: ["SUCCEEDED"], limit: 1 } });
const CALLS = q("listExecutions", { query: { kind: "outgoing", limit: 1 } });
const APPLICATIONS = q("listApplications", { query: { limit: 1 } });
const SUBSCRIPTIONS = q("listSubscriptions", { query: { limit: 1 } });

/** A step that is not done is asked for so often: it ticks by itself, and its command needs longer. */
const STEP_MS = 5_000;

/** Whether anything of a list is there; undefined: not known yet. */
function useAny(query: Query<"listExecutions" | "listApplications" | "listSubscriptions">) {
  const { data } = useFetched(query, {
    refresh: ({ items }) => (items.length > 0 ? REFRESH_MS.list : STEP_MS),
  });
  return data && data.items.length > 0;
}

/**
 * From nothing to the first call. Each step is ticked by what there is, and by nothing that is stored; when all are, the list folds to a
 * line, which is not shown to who comes later.
 */
export function FirstSteps({ newest }: { readonly newest: AnswerOf<"listServices"> }) {
  const steps = useSteps(newest);
  const [isOpen, setIsOpen] = useState(false);
  if (newest.items.length > 0 && steps.some(({ isDone }) => isDone === undefined)) return null;
  const done = steps.filter(({ isDone }) => isDone).length;
  const isComplete = done === steps.length;
  if (isComplete && !isOpen)
    return (
      <Group gap="sm">
        <Text c="dimmed" fz="sm">
          All first steps are done.
        </Text>
        <Button variant="subtle" size="compact-sm" onClick={() => setIsOpen(true)}>
          Show them
        </Button>
      </Group>
    );
  return (
    <Paper withBorder radius="md" p="lg">
      <Group justify="space-between" mb="xs">
        <Title order={2} fz="lg">
          First steps
        </Title>
        <Text c="dimmed" fz="sm">
          {done} of {steps.length}
        </Text>
      </Group>
      <Progress
        value={(done / steps.length) * 100}
        size="sm"
        mb="lg"
        aria-label="First steps that are done"
      />
      <Stack component="ol" gap="md" style={{ listStyle: "none", margin: 0, padding: 0 }}>
        {steps.map((step) => (
          <Step key={step.name} {...step} />
        ))}
      </Stack>
    </Paper>
  );
}

function useSteps(newest: AnswerOf<"listServices">): readonly FirstStep[] {
  const { slug: org } = useOrganisation();
  const services = useKnownServices(newest);
  const hasRun = useAny(JOBS);
  const hasCalled = useAny(CALLS);
  const hasSubscribed = useAny(SUBSCRIPTIONS);
  const hasApplication = useAny(APPLICATIONS);
  const [application] = useFetched(APPLICATIONS).data?.items ?? [];
  const toApplication = (search: { readonly new?: "subscription"; readonly tab?: "token" }, words: string) =>
    application && (
      <ButtonLink
        to="/o/$org/applications/$id"
        params={{ org, id: application.id }}
        search={search}
        size="xs"
        variant="default"
      >
        {words}
      </ButtonLink>
    );
  return [
    ...describeServiceSteps(services, org, hasRun),
    {
      name: "Create an application",
      isDone: hasApplication,
      text: "It is who calls, with a key of its own.",
      op: "createApplication",
      command: "platform applications create my-app",
      action: <NewApplication org={org} />,
    },
    {
      name: "Subscribe it to a service",
      isDone: hasSubscribed,
      text: "The subscription has the URL to call.",
      op: "createSubscription",
      command: "platform subscribe my-solver my-app",
      action: (
        <>
          {toApplication({ new: "subscription" }, "Subscribe it")}
          <ToMarketplace org={org} />
        </>
      ),
    },
    {
      name: "Make the first call",
      isDone: hasCalled,
      text: "With a token of a key, at the endpoint URL of the subscription.",
      op: "createAccessKey",
      action: toApplication({ tab: "token" }, "Show how"),
    },
  ];
}

function NewApplication({ org }: { readonly org: string }) {
  return (
    <ButtonLink
      to="/o/$org/applications"
      params={{ org }}
      search={{ new: "application" }}
      size="xs"
      variant="default"
    >
      New application
    </ButtonLink>
  );
}

function ToMarketplace({ org }: { readonly org: string }) {
  return (
    <ButtonLink to="/o/$org/marketplace" params={{ org }} size="xs" variant="default">
      Open the marketplace
    </ButtonLink>
  );
}

function describeServiceSteps(
  { live, isAnyLive, isAnyPublished }: ReturnType<typeof useKnownServices>,
  org: string,
  hasRun: boolean | undefined,
): readonly FirstStep[] {
  return [
    {
      name: "Deploy a service",
      // What has run was live.
      isDone: anyOf([isAnyLive, hasRun]),
      text: "A Python function becomes an endpoint.",
      op: "createVersion",
      command: "platform init --name my-solver && cd my-solver && platform up",
      action: (
        <ButtonLink to="/o/$org/services/new" params={{ org }} size="xs" variant="default">
          Upload a project
        </ButtonLink>
      ),
    },
    {
      name: "Run it",
      isDone: hasRun,
      text: "A job is a run that a member starts.",
      op: "startJob",
      command: "platform run",
      action: live && (
        <ButtonLink
          to="/o/$org/services/$key/try"
          params={{ org, key: live.key }}
          size="xs"
          variant="default"
        >
          Try it
        </ButtonLink>
      ),
    },
    {
      name: "Publish it",
      isDone: isAnyPublished,
      text: "Only published services take subscriptions.",
      op: "publishService",
      command: "platform publish",
      action: live && (
        <ButtonLink to="/o/$org/services/$key" params={{ org, key: live.key }} size="xs" variant="default">
          Open {live.name}
        </ButtonLink>
      ),
    },
  ];
}

function Step({ name, isDone, text, op, command, action }: FirstStep) {
  const isRefused = useRefusal(op) !== null;
  const Icon = isDone === true ? IconCheck : IconCircle;
  return (
    <Group component="li" align="flex-start" wrap="nowrap" gap="sm">
      <ThemeIcon size={24} radius="xl" variant={isDone === true ? "filled" : "default"}>
        <Icon size={15} aria-label={isDone === true ? "Done" : "To do"} />
      </ThemeIcon>
      <div style={{ minWidth: 0 }}>
        <Text fw={600}>{name}</Text>
        <Text c="dimmed" fz="sm">
          {text}
        </Text>
        {isDone !== true && isRefused && <WhoCan op={op} />}
        {isDone !== true && !isRefused && (
          <Group gap="xs" mt={6}>
            {command !== undefined && (
              <Group gap={4} wrap="nowrap" miw={0}>
                <Code fz="sm">{command}</Code>
                <CopyButton text={command} what="command" />
              </Group>
            )}
            {action}
          </Group>
        )}
      </div>
    </Group>
  );
}
