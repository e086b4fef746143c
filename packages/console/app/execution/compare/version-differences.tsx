import { Skeleton, Stack, Text, Title } from "@mantine/core";
import { lazy, Suspense } from "react";
import type { VersionDetails } from "@platform/contract/platform-api/services";
import { Facts } from "../../ui/facts.tsx";

const TextDifference = lazy(async () => ({
  default: (await import("./text-difference.tsx")).TextDifference,
}));

interface VersionDifferencesProps {
  /** Of the titles of its parts. */
  readonly level: 2 | 3;
  readonly before: VersionDetails;
  readonly after: VersionDetails;
}

/** Where two versions of a service differ: resources, interpreter, schemas, and what was installed. */
export function VersionDifferences({ level, before, after }: VersionDifferencesProps) {
  return (
    <Stack gap="lg">
      <ChangedFacts before={before} after={after} />
      <Part level={level} title="Schema of the input" before={before.inputSchema} after={after.inputSchema} />
      <Part
        level={level}
        title="Schema of the result"
        before={before.outputSchema}
        after={after.outputSchema}
      />
      <Part level={level} title="Requirements" before={before.requirements} after={after.requirements} />
    </Stack>
  );
}

function ChangedFacts({ before, after }: Omit<VersionDifferencesProps, "level">) {
  const describe = (words: (of: VersionDetails) => string) =>
    words(before) === words(after)
      ? undefined
      : `${words(before)} in ${before.version}, ${words(after)} in ${after.version}`;
  const facts = {
    Resources: describe(({ resources: { cpu, memory } }) => `${cpu} vCPU, ${memory} GB`),
    "Time limit": describe(({ timeoutSeconds }) => `${timeoutSeconds} s`),
    Python: describe(({ python }) => python ?? "not known"),
  };
  if (Object.values(facts).every((fact) => fact === undefined)) return null;
  return <Facts of={facts} />;
}

interface PartProps {
  readonly level: 2 | 3;
  readonly title: string;
  readonly before: unknown;
  readonly after: unknown;
}

function Part({ level, title, before, after }: PartProps) {
  const [old, fresh] = [toText(before), toText(after)];
  return (
    <section aria-label={title}>
      <Title order={level} fz="md" mb={6}>
        {title}
      </Title>
      {old === fresh ? (
        <Text c="dimmed">Both have the same.</Text>
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
