import type { ReactNode } from "react";
import { useText } from "../../api/content.ts";
import { useOrganisation } from "../../api/scope.tsx";
import { SHOWN_BYTES } from "../../execution/json-view.tsx";
import { describeCaller } from "../../execution/kinds.ts";
import { FORMAT_WORDS } from "../../quantum/circuits.ts";
import { hasOptions, readOptions } from "../../quantum/same-request.ts";
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
function describeRequest({ job, execution, org }: DescribedProps): Described {
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
    Options: hasOptions(job) ? <Options job={job} execution={execution} /> : undefined,
    Format: FORMAT_WORDS[job.input_format] ?? job.input_format,
    "Costs at most": job.max_cost === null ? undefined : describeMost(job.max_cost, job),
    "Earlier results": job.cache ? "may answer it" : undefined,
    "Only checked": job.dry_run ? "yes: its result is an estimate" : undefined,
  };
}

function describeMost(amount: string, { currency }: JobProps["job"]): string {
  return currency === null ? amount : formatMoney([{ amount, currency }]);
}

/** Digit by digit, where the input is not too large to be read for them. */
function Options({ job, execution }: JobProps) {
  const isRead = (execution.inputBytes ?? SHOWN_BYTES) < SHOWN_BYTES;
  const { data } = useText("getExecutionInput", { params: { id: job.id } }, isRead);
  return (
    <span className="mono" style={{ overflowWrap: "anywhere" }}>
      {data === undefined ? JSON.stringify(job.input_params) : readOptions(data, job)}
    </span>
  );
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
    Session:
      session === null ? undefined : (
        <AppLink to="/o/$org/quantum-sessions/$id" params={{ org, id: session }} className="mono">
          {session}
        </AppLink>
      ),
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
