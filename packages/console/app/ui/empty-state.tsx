import { Code, Group, Paper, Stack, Text, Title } from "@mantine/core";
import type { ReactNode } from "react";
import { CopyButton } from "./copy-button.tsx";

interface EmptyStateProps {
  /** What there is none of: "No applications yet". */
  readonly title: string;
  /** What it would be, and why it is empty. */
  readonly children: ReactNode;
  /** The one thing to do next. */
  readonly action?: ReactNode;
  /** The same on the command line. */
  readonly command?: string;
}

/** Stands where a list has nothing: never while it is being loaded. */
export function EmptyState({ title, children, action, command }: EmptyStateProps) {
  return (
    <Paper withBorder p="xl" radius="md">
      <Stack gap="sm" align="flex-start" maw="70ch">
        <Title order={2} fz="lg">
          {title}
        </Title>
        <Text c="dimmed">{children}</Text>
        {action}
        {command !== undefined && (
          <Group gap={6}>
            {action !== undefined && (
              <Text c="dimmed" fz="sm">
                or
              </Text>
            )}
            <Code fz="sm">{command}</Code>
            <CopyButton text={command} what="command" />
          </Group>
        )}
      </Stack>
    </Paper>
  );
}
