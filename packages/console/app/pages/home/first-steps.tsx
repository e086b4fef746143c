import { Code, Group, Paper, Stack, Text, ThemeIcon, Title } from "@mantine/core";
import { IconCheck, IconCircle } from "@tabler/icons-react";
import type { Application } from "@platform/contract/platform-api/applications";
import type { Service } from "@platform/contract/platform-api/services";
import type { Subscription } from "@platform/contract/platform-api/subscriptions";
import { CopyButton } from "../../ui/copy-button.tsx";

interface FirstStepsProps {
  readonly services: readonly Service[];
  readonly applications: readonly Application[];
  readonly subscriptions: readonly Subscription[];
}

/** From nothing to the first call. Each step is ticked by what there is, and by nothing that is stored. */
export function FirstSteps({ services, applications, subscriptions }: FirstStepsProps) {
  const steps = [
    {
      name: "Deploy a service",
      isDone: services.some(({ latestVersion }) => latestVersion !== null),
      text: "A Python function becomes an endpoint.",
      command: "platform init my-solver && cd my-solver && platform up",
    },
    {
      name: "Publish it",
      isDone: services.some(({ publication }) => publication !== null),
      text: "Only published services take subscriptions.",
      command: "platform publish",
    },
    {
      name: "Create an application",
      isDone: applications.length > 0,
      text: "It is who calls, with a key of its own.",
    },
    {
      name: "Subscribe it to a service",
      isDone: subscriptions.length > 0,
      text: "The subscription has the URL to call.",
    },
  ];
  if (steps.every(({ isDone }) => isDone)) return null;
  return (
    <Paper withBorder radius="md" p="lg">
      <Title order={2} fz="lg" mb="md">
        First steps
      </Title>
      <Stack component="ol" gap="md" style={{ listStyle: "none", margin: 0, padding: 0 }}>
        {steps.map((step) => (
          <Step key={step.name} {...step} />
        ))}
      </Stack>
    </Paper>
  );
}

interface StepProps {
  readonly name: string;
  readonly isDone: boolean;
  readonly text: string;
  readonly command?: string;
}

function Step({ name, isDone, text, command }: StepProps) {
  const Icon = isDone ? IconCheck : IconCircle;
  return (
    <Group component="li" align="flex-start" wrap="nowrap" gap="sm">
      <ThemeIcon size={24} radius="xl" variant={isDone ? "filled" : "default"}>
        <Icon size={15} aria-label={isDone ? "Done" : "To do"} />
      </ThemeIcon>
      <div style={{ minWidth: 0 }}>
        <Text fw={600}>{name}</Text>
        <Text c="dimmed" fz="sm">
          {text}
        </Text>
        {!isDone && command !== undefined && (
          <Group gap={4} mt={4} wrap="nowrap">
            <Code fz="sm">{command}</Code>
            <CopyButton text={command} what="command" />
          </Group>
        )}
      </div>
    </Group>
  );
}
