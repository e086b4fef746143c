import { Breadcrumbs, Group, Stack, Text, Title } from "@mantine/core";
import { useEffect, useRef } from "react";
import type { ReactNode } from "react";

interface PageHeaderProps {
  /** Heading of the page, and of its tab. */
  readonly title: string;
  /** Links to the pages above it, the highest first. */
  readonly above?: readonly ReactNode[];
  /** One sentence under the title. */
  readonly description?: ReactNode;
  /** Beside the title, e.g. a state. */
  readonly badge?: ReactNode;
  /** Buttons, the most important one last. */
  readonly actions?: ReactNode;
}

/** Names may be long, and screens narrow. */
const WRAPPED = {
  root: { flexWrap: "wrap" },
  breadcrumb: { whiteSpace: "normal", overflowWrap: "anywhere", minWidth: 0 },
} as const;

/** Begins every page: its only `h1`, which gets the focus when the page opens, so that screen readers say where one is. */
export function PageHeader({ title, above, description, badge, actions }: PageHeaderProps) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = `${title} · Platform`;
  }, [title]);
  useEffect(() => {
    // Not on the first page of a visit: there the browser announces the document.
    if (document.documentElement.dataset["navigated"] === "true")
      heading.current?.focus({ preventScroll: true });
  }, []);
  return (
    <Stack gap={6} mb="lg">
      {above !== undefined && (
        <nav aria-label="Breadcrumb">
          <Breadcrumbs separatorMargin={8} fz="sm" styles={WRAPPED}>
            {above}
          </Breadcrumbs>
        </nav>
      )}
      <Group justify="space-between" align="center" gap="sm" mb={4}>
        <Group gap="sm" style={{ minWidth: 0 }}>
          <Title order={1} fz={26} lh={1.25} ref={heading} tabIndex={-1} style={{ overflowWrap: "anywhere" }}>
            {title}
          </Title>
          {badge}
        </Group>
        {actions !== undefined && <Group gap="xs">{actions}</Group>}
      </Group>
      {description !== undefined && (
        <Text component="div" c="dimmed" maw="78ch">
          {description}
        </Text>
      )}
    </Stack>
  );
}
