import { Alert, List, Skeleton, Stack, Text, Title } from "@mantine/core";
import { lazy, Suspense } from "react";
import type { VersionDetails } from "@platform/contract/platform-api/services";
import { q, useFetched } from "../../api/queries.ts";
import { Facts } from "../../ui/facts.tsx";
import { Failure } from "../../ui/failure.tsx";
import { CallersOfFormer } from "./version-callers.tsx";

const TextDifference = lazy(async () => ({
  default: (await import("../../execution/compare/text-difference.tsx")).TextDifference,
}));

interface VersionChangesProps {
  readonly serviceKey: string;
  readonly of: VersionDetails;
}

/** What is different from the version before. */
export function VersionChanges({ serviceKey, of: one }: VersionChangesProps) {
  const { formerVersion } = one;
  const { data, error, retry } = useFetched(
    q("getVersion", { params: { key: serviceKey, version: formerVersion ?? "" } }),
    { isActive: formerVersion !== null },
  );
  if (formerVersion === null) return <Text c="dimmed">There is no version with a lower number.</Text>;
  if (error !== null) return <Failure error={error} retry={retry} />;
  if (data === undefined) return <Skeleton h={200} />;
  return (
    <Stack gap="lg">
      <ChangedFacts before={data} after={one} />
      <Part title="Input" before={data.inputSchema} after={one.inputSchema} />
      <Part title="Result" before={data.outputSchema} after={one.outputSchema} />
      <Part title="Requirements" before={data.requirements} after={one.requirements} />
    </Stack>
  );
}

/** What callers of the version before it must know, and who they are; nothing where it breaks none. */
export function BreakingChanges({ serviceKey, of: { breakingChanges, formerVersion } }: VersionChangesProps) {
  if (breakingChanges.length === 0 || formerVersion === null) return null;
  return (
    <Alert color="yellow" variant="light" title={`It breaks callers of ${formerVersion}`}>
      <Stack gap={8} c="var(--mantine-color-text)">
        <List fz="sm">
          {breakingChanges.map((change) => (
            <List.Item key={change} style={{ overflowWrap: "anywhere" }}>
              {change}
            </List.Item>
          ))}
        </List>
        <CallersOfFormer serviceKey={serviceKey} version={formerVersion} />
      </Stack>
    </Alert>
  );
}

interface BothProps {
  readonly before: VersionDetails;
  readonly after: VersionDetails;
}

function ChangedFacts({ before, after }: BothProps) {
  const describe = (words: (of: VersionDetails) => string) =>
    words(before) === words(after) ? undefined : `${words(before)}, now ${words(after)}`;
  const facts = {
    Resources: describe(({ resources: { cpu, memory } }) => `${cpu} vCPU, ${memory} GB`),
    "Time limit": describe(({ timeoutSeconds }) => `${timeoutSeconds} s`),
    Python: describe(({ python }) => python ?? "not known"),
  };
  if (Object.values(facts).every((fact) => fact === undefined)) return null;
  return <Facts of={facts} />;
}

interface PartProps {
  readonly title: string;
  readonly before: unknown;
  readonly after: unknown;
}

function Part({ title, before, after }: PartProps) {
  const [old, fresh] = [toText(before), toText(after)];
  return (
    <section aria-label={title}>
      <Title order={2} fz="md" mb={6}>
        {title}
      </Title>
      {old === fresh ? (
        <Text c="dimmed">As before.</Text>
      ) : (
        <Suspense fallback={<Skeleton h={200} />}>
          <TextDifference before={old} after={fresh} label={title} />
        </Suspense>
      )}
    </section>
  );
}

function toText(value: unknown): string {
  if (value === null) return "";
  if (Array.isArray(value)) return value.join("\n");
  return JSON.stringify(value, null, 2);
}
