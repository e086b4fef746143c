import type { ReactNode } from "react";
import { useOrganisation } from "../../api/scope.tsx";
import { describeCaller } from "../../execution/kinds.ts";
import { FORMAT_WORDS } from "../../quantum/circuits.ts";
import { CopyLine } from "../../ui/copy-button.tsx";
import { Facts } from "../../ui/facts.tsx";
import { AppLink } from "../../ui/link.tsx";
import { Time } from "../../ui/time.tsx";
import { formatMoney } from "../../util/money.ts";
import { formatDuration } from "../../util/times.ts";
import { formatBytes, formatCount } from "../../util/units.ts";
import { Tags } from "./columns.tsx";
import type { JobProps } from "./job-actions.tsx";

/** Tags that a job can have. */
const ALL_TAGS = 20;

const bytes = (count: number | undefined) => (count === undefined ? undefined : formatBytes(count));

function describeCost({ cost, currency }: JobProps["job"]): string | undefined {
  if (currency === null) return undefined;
  return cost === null ? "known when it has ended" : formatMoney([{ amount: cost, currency }]);
}

/** What else is known of a job. */
export function JobFacts(job: JobProps) {
  const { slug: org } = useOrganisation();
  const props = { ...job, org };
  return <Facts of={{ ...describeRequest(props), ...describeOrigin(props), ...describeRun(props) }} />;
}

interface DescribedProps extends JobProps {
  readonly org: string;
}

type Described = Readonly<Record<string, ReactNode>>;

/** What was asked for. */
function describeRequest({ job, org }: DescribedProps): Described {
  const options = JSON.stringify(job.input_params);
  return {
    Identifier: <CopyLine text={job.id} what="identifier" />,
    Name: job.name ?? undefined,
    Backend: (
      <AppLink to="/o/$org/backends/$id" params={{ org, id: job.backend_id }} className="mono">
        {job.backend_id}
      </AppLink>
    ),
    "Version of the backend": job.backend_version,
    Provider: job.provider,
    Tags: job.tags.length === 0 ? undefined : <Tags org={org} of={job.tags} most={ALL_TAGS} />,
    Shots: job.shots === null ? "as the backend decides" : formatCount(job.shots),
    Options: options === "{}" ? undefined : <span className="mono">{options}</span>,
    Format: FORMAT_WORDS[job.input_format] ?? job.input_format,
    "Only checked": job.dry_run ? "yes: its result is an estimate" : undefined,
  };
}

/** Who has asked, and for what it is a part of. */
function describeOrigin({ job, execution, org }: DescribedProps): Described {
  const { session_id: session, service_execution_id: service, cached_from: earlier } = job;
  return {
    "Sent by": job.sdk_provider ?? undefined,
    "Started by": describeCaller(execution),
    "Started by the execution":
      service === null ? undefined : (
        <AppLink to="/o/$org/executions/$id" params={{ org, id: service }} className="mono">
          {service}
        </AppLink>
      ),
    Session: session === null ? undefined : <CopyLine text={session} what="session" />,
    "Result of":
      earlier === null ? undefined : (
        <AppLink to="/o/$org/quantum-jobs/$id" params={{ org, id: earlier }}>
          an earlier job with the same digest
        </AppLink>
      ),
  };
}

/** What has become of it. */
function describeRun({ job, execution, org }: DescribedProps): Described {
  return {
    Cost: describeCost(job),
    Created: <Time at={job.created_at} as="exact" />,
    Ran: job.usage_time_millis === null ? undefined : formatDuration(job.usage_time_millis),
    Execution: (
      <AppLink to="/o/$org/executions/$id" params={{ org, id: job.id }}>
        The execution that it is, with files, attempts and worker
      </AppLink>
    ),
    "Size of the input": bytes(execution.inputBytes),
    "Size of the result": bytes(execution.resultBytes),
    Digest: job.digest === null ? undefined : <CopyLine text={job.digest} what="digest" />,
    "Kept until":
      execution.expiresAt === undefined ? undefined : <Time at={execution.expiresAt} as="exact" />,
  };
}
