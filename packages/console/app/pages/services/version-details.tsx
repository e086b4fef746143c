import { Stack, Text, Title } from "@mantine/core";
import type { VersionDetails } from "@platform/contract/platform-api/services";
import { Code } from "../../ui/code.tsx";
import { Facts } from "../../ui/facts.tsx";
import { Time } from "../../ui/time.tsx";
import { formatDuration } from "../../util/times.ts";
import { formatBytes } from "../../util/units.ts";
import { BreakingChanges } from "./version-changes.tsx";
import { showJson } from "../../util/show-json.ts";

interface Props {
  readonly of: VersionDetails;
}

/** What a version is, and what it needs. */
export function VersionFacts({ serviceKey, of: one }: Props & { readonly serviceKey: string }) {
  const { cpu, memory } = one.resources;
  return (
    <>
      <BreakingChanges serviceKey={serviceKey} of={one} />
      <Facts
        of={{
          State:
            one.status === "LIVE" ? "Live: it accepts executions" : "Retired: it accepts no new executions",
          Resources: `${cpu} vCPU, ${memory} GB`,
          "Time limit": formatDuration(one.timeoutSeconds * 1_000),
          Python: one.python ?? undefined,
          Archive: one.sizeBytes === null ? undefined : formatBytes(one.sizeBytes),
          Deployed: <Time at={one.createdAt} />,
          By: one.createdBy ?? undefined,
          Retired: one.retiredAt === null ? undefined : <Time at={one.retiredAt} />,
        }}
      />
    </>
  );
}

/** What a start takes and gives, and an example of it. */
export function Schemas({ of: { inputSchema, outputSchema, exampleInput } }: Props) {
  return (
    <Stack>
      <JsonPart title="Input" value={inputSchema} missing="run has no type hints: any object is taken." />
      <JsonPart title="Result" value={outputSchema} missing="run has no type hint of what it returns." />
      <JsonPart title="Example" value={exampleInput} missing="The project has no input/data.json." />
    </Stack>
  );
}

interface JsonPartProps {
  readonly title: string;
  readonly value: unknown;
  readonly missing: string;
}

function JsonPart({ title, value, missing }: JsonPartProps) {
  return (
    <section>
      <Title order={2} fz="md" mb={6}>
        {title}
      </Title>
      {value === null ? (
        <Text c="dimmed">{missing}</Text>
      ) : (
        <Code text={showJson(value)} language="json" what={title} />
      )}
    </section>
  );
}

/** What was installed. */
export function Requirements({ of: { requirements } }: Props) {
  if (requirements === null) return <Text c="dimmed">What was installed is not known.</Text>;
  if (requirements.length === 0) return <Text c="dimmed">It needs nothing but Python.</Text>;
  return <Code text={requirements.join("\n")} language="text" what="Requirements" />;
}
