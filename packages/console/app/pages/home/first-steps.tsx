import { Button, Code, Group, Paper, Progress, Stack, Text, ThemeIcon, Title } from "@mantine/core";
import { IconCheck, IconCircle } from "@tabler/icons-react";
import { useState } from "react";
import type { ReactNode } from "react";
import type { Service } from "@platform/contract/platform-api/services";
import { q, REFRESH_MS, useFetched } from "../../api/queries.ts";
import { useOrganisation } from "../../api/scope.tsx";
import { CopyButton } from "../../ui/copy-button.tsx";
import { ButtonLink } from "../../ui/link.tsx";

/** One step from nothing to the first call. */
interface FirstStep {
  readonly name: string;
  /** undefined: not known yet. */
  readonly isDone: boolean | undefined;
  readonly text: string;
  readonly command?: string;
  readonly action?: ReactNode;
}

const JOBS = q("countExecutions", { query: { kind: "job", status: ["SUCCEEDED"] } });
const CALLS = q("countExecutions", { query: { kind: "outgoing" } });
const APPLICATIONS = q("listApplications", { query: { limit: 1 } });
const SUBSCRIPTIONS = q("listSubscriptions", { query: { limit: 1 } });

/**
 * From nothing to the first call. Each step is ticked by what there is, and by nothing that is stored; when all are, the list folds to a
 * line, which is not shown to who comes later.
 */
export function FirstSteps({ services }: { readonly services: readonly Service[] }) {
  const steps = useSteps(services);
  const [isOpen, setIsOpen] = useState(false);
  if (services.length > 0 && steps.some(({ isDone }) => isDone === undefined)) return null;
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

function useSteps(services: readonly Service[]): readonly FirstStep[] {
  const { slug } = useOrganisation();
  const options = { refresh: REFRESH_MS.list };
  const jobs = useFetched(JOBS, options).data;
  const calls = useFetched(CALLS, options).data;
  const applications = useFetched(APPLICATIONS, options).data;
  const subscriptions = useFetched(SUBSCRIPTIONS, options).data;
  const [application] = applications?.items ?? [];
  return [
    ...describeServiceSteps(services, jobs && jobs.total > 0),
    {
      name: "Create an application",
      isDone: applications && application !== undefined,
      text: "It is who calls, with a key of its own.",
      action: (
        <ButtonLink
          to="/o/$org/applications"
          params={{ org: slug }}
          search={{ new: "application" }}
          size="xs"
        >
          New application
        </ButtonLink>
      ),
    },
    {
      name: "Subscribe it to a service",
      isDone: subscriptions && subscriptions.items.length > 0,
      text: "The subscription has the URL to call.",
      action: application && (
        <ButtonLink
          to="/o/$org/applications/$id"
          params={{ org: slug, id: application.id }}
          search={{ new: "subscription" }}
          size="xs"
        >
          Subscribe it
        </ButtonLink>
      ),
    },
    {
      name: "Make the first call",
      isDone: calls && calls.total > 0,
      text: "With a token of a key, at the endpoint URL of the subscription.",
      action: application && (
        <ButtonLink
          to="/o/$org/applications/$id"
          params={{ org: slug, id: application.id }}
          search={{ tab: "token" }}
          size="xs"
          variant="default"
        >
          Show how
        </ButtonLink>
      ),
    },
  ];
}

function describeServiceSteps(
  services: readonly Service[],
  hasRun: boolean | undefined,
): readonly FirstStep[] {
  return [
    {
      name: "Deploy a service",
      isDone: services.some(({ latestVersion }) => latestVersion !== null),
      text: "A Python function becomes an endpoint.",
      command: "platform init my-solver && cd my-solver && platform up",
    },
    {
      name: "Run it",
      isDone: hasRun,
      text: "A job is a run that a member starts.",
      command: "platform run",
    },
    {
      name: "Publish it",
      isDone: services.some(({ publication }) => publication !== null),
      text: "Only published services take subscriptions.",
      command: "platform publish",
    },
  ];
}

function Step({ name, isDone, text, command, action }: FirstStep) {
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
        {isDone !== true && command !== undefined && (
          <Group gap={4} mt={4} wrap="nowrap">
            <Code fz="sm">{command}</Code>
            <CopyButton text={command} what="command" />
          </Group>
        )}
        {isDone !== true && action !== undefined && <div style={{ marginTop: 8 }}>{action}</div>}
      </div>
    </Group>
  );
}
