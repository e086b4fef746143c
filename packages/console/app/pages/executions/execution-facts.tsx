import { describeCaller, KINDS } from "../../execution/kinds.ts";
import type { Execution } from "../../execution/advice.ts";
import { CopyLine } from "../../ui/copy-button.tsx";
import { Facts } from "../../ui/facts.tsx";
import { Time } from "../../ui/time.tsx";
import { formatDuration } from "../../util/times.ts";
import { formatBytes } from "../../util/units.ts";

const bytes = (count: number | undefined) => (count === undefined ? undefined : formatBytes(count));

/** What else is known of an execution. */
export function ExecutionFacts({ execution }: { readonly execution: Execution }) {
  const { resources, peakMemoryBytes, cpuMs, workerId, subscriptionId, attempt } = execution;
  return (
    <Facts
      of={{
        Identifier: <CopyLine text={execution.id} what="identifier" />,
        Service: `${execution.service.name} ${execution.version}`,
        "Service key": <CopyLine text={execution.service.key} what="service key" />,
        Kind: KINDS[execution.kind].word,
        "Started by": describeCaller(execution),
        Subscription:
          subscriptionId === undefined ? undefined : <CopyLine text={subscriptionId} what="subscription" />,
        Created: <Time at={execution.createdAt} as="exact" />,
        Attempt: attempt,
        Worker: workerId === undefined ? undefined : <span className="mono">{workerId}</span>,
        "vCPUs and memory": `${resources.cpu} vCPU, ${resources.memory} GB`,
        "Peak memory": bytes(peakMemoryBytes),
        "CPU time": cpuMs === undefined ? undefined : formatDuration(cpuMs),
        "Time limit": formatDuration(execution.timeoutSeconds * 1_000),
        "Size of the input": bytes(execution.inputBytes),
        "Size of the result": bytes(execution.resultBytes),
        "Kept until":
          execution.expiresAt === undefined ? undefined : <Time at={execution.expiresAt} as="exact" />,
        "Log kept until":
          execution.logExpiresAt === undefined ? undefined : <Time at={execution.logExpiresAt} as="exact" />,
      }}
    />
  );
}
