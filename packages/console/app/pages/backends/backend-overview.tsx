import { Anchor, Stack, Text } from "@mantine/core";
import type { Backend } from "@platform/contract/quantum-api/backends";
import type { AnswerOf } from "../../api/client.ts";
import { useOrganisation } from "../../api/scope.tsx";
import { Facts } from "../../ui/facts.tsx";
import { AppLink } from "../../ui/link.tsx";
import { formatMoney } from "../../util/money.ts";
import { formatDuration } from "../../util/times.ts";
import { formatCount } from "../../util/units.ts";
import { describeSize, describeTechnology, TYPE_WORDS } from "../../quantum/words.ts";

interface BackendOverviewProps {
  readonly backend: Backend;
  readonly load: AnswerOf<"getBackendStatus">;
}

/** What a backend is, and how busy. What it says of itself is its author's text, and stands as it is. */
export function BackendOverview({ backend, load }: BackendOverviewProps) {
  const { slug: org } = useOrganisation();
  const { documentation, internal_id: key, backend_version: version } = backend;
  return (
    <Stack gap="lg">
      {documentation.description !== undefined && documentation.description !== "" && (
        <Text maw="78ch" style={{ whiteSpace: "pre-wrap", overflowWrap: "anywhere" }}>
          {documentation.description}
        </Text>
      )}
      <Facts
        of={{
          Type: TYPE_WORDS[backend.type],
          Technology: describeTechnology(backend),
          Size: describeSize(backend),
          "Jobs that wait": formatCount(load.queue_size),
          "Typical wait": describeWait(load.queue_avg_time),
          Price: describePrice(backend.price),
          Results: backend.deterministic
            ? "the same for the same input and seed"
            : "drawn anew by each job, also with a seed",
          Provider: backend.provider,
          "Hardware of": backend.hardware_provider ?? undefined,
          Version: (
            <AppLink to="/o/$org/services/$key/versions/$version" params={{ org, key, version }}>
              {version}
            </AppLink>
          ),
          "Made on": backend.updated_at,
          Service: (
            <AppLink to="/o/$org/services/$key" params={{ org, key }}>
              Its service, with builds and settings
            </AppLink>
          ),
          "More about it":
            documentation.url === undefined ? undefined : (
              <Anchor href={documentation.url} rel="nofollow noreferrer ugc" target="_blank" inherit>
                {documentation.url}
              </Anchor>
            ),
        }}
      />
    </Stack>
  );
}

function describePrice(price: Backend["price"]): string {
  if (price === null) return "its jobs cost nothing";
  const { currency, per_job: job, per_shot: shot, per_second: second } = price;
  const parts = [
    [job, "a job"],
    [shot, "a shot"],
    [second, "a second"],
  ] as const;
  return parts
    .filter(([amount]) => Number(amount) > 0)
    .map(([amount, of]) => `${formatMoney([{ amount, currency }])} ${of}`)
    .join(", ");
}

function describeWait(seconds: number): string {
  return seconds === 0 ? "none" : `up to ${seconds < 60 ? `${seconds} s` : formatDuration(seconds * 1_000)}`;
}
