import { Button, Group, Stack, Text } from "@mantine/core";
import { useState } from "react";
import { MOST_CANCELLED } from "@platform/contract/limits";
import { q, useChange, useFetched } from "../api/queries.ts";
import type { ExecutionFilter } from "../execution/filter.ts";
import { Failure } from "../ui/failure.tsx";
import { notifyDone } from "../ui/notify.ts";
import { Unless } from "../ui/unless.tsx";
import { formatCount } from "../util/units.ts";

const TOO_MANY = `These are more than the ${formatCount(MOST_CANCELLED)} that one request cancels. Choose a shorter period.`;

interface CancelMatchingProps {
  readonly filter: ExecutionFilter;
  /** Of the organisation, to say whose they are. */
  readonly slug: string;
  readonly close: () => void;
}

/**
 * Says how many executions the filter matches, and cancels as many: if there are over a tenth more by then, the platform cancels none. Those
 * of others, which are incoming, are neither counted nor cancelled.
 */
export function CancelMatching({ filter, slug, close }: CancelMatchingProps) {
  const count = useCancellable(filter);
  const [error, setError] = useState<unknown>(null);
  const cancel = useChange("cancelExecutions", { refresh: ["listExecutions", "countExecutions"] });
  const run = async (expected: number) => {
    try {
      const { cancelled, finishedMeanwhile } = await cancel.run({ body: { filter, expected } });
      const ended = finishedMeanwhile === 0 ? "" : ` ${formatCount(finishedMeanwhile)} had ended before.`;
      notifyDone(`${formatCount(cancelled)} cancelled.${ended}`);
      close();
    } catch (refusal) {
      setError(refusal);
      count.retry();
    }
  };
  const { total } = count;
  const words = total === null && count.error !== null ? NOT_COUNTED : describe(total, slug);
  return (
    <Stack>
      {count.error !== null && <Failure error={count.error} retry={count.retry} />}
      {error !== null && <Failure error={error} />}
      <Text role="status">{words}</Text>
      {total !== null && total > MOST_CANCELLED && <Text>{TOO_MANY}</Text>}
      <Text c="dimmed" fz="sm">
        What waits ends at once, what runs within seconds. Incoming executions are not cancelled: they are
        others' own.
      </Text>
      <Group justify="flex-end">
        <Button variant="default" onClick={close}>
          Keep them
        </Button>
        <Unless reason={total === null || total === 0 ? words : total > MOST_CANCELLED ? TOO_MANY : null}>
          <Button color="red" loading={cancel.isRunning} onClick={() => void run(total ?? 0)}>
            {total === null || total === 0 ? "Cancel them" : `Cancel ${formatCount(total)}`}
          </Button>
        </Unless>
      </Group>
    </Stack>
  );
}

const NOT_COUNTED = "How many the filter matches is not known.";

function describe(total: number | null, slug: string): string {
  if (total === null) return "Counting what the filter matches.";
  if (total === 0) return `Nothing that the filter matches waits or runs in ${slug}.`;
  if (total === 1) return `1 execution of ${slug} that waits or runs will be cancelled.`;
  return `${formatCount(total)} executions of ${slug} that wait or run will be cancelled.`;
}

/** How many the filter matches that can be cancelled; null: not known yet. */
function useCancellable(filter: ExecutionFilter) {
  const wanted = (filter.status ?? ["PENDING", "RUNNING"]).filter(
    (status) => status === "PENDING" || status === "RUNNING",
  );
  const isAsked = (kind: "job" | "outgoing") =>
    wanted.length > 0 && (filter.kind === undefined || filter.kind === kind);
  const ask = (kind: "job" | "outgoing") =>
    q("countExecutions", { query: { ...filter, kind, status: wanted, by: "status" } });
  const jobs = useFetched(ask("job"), { isActive: isAsked("job") });
  const outgoing = useFetched(ask("outgoing"), { isActive: isAsked("outgoing") });
  const isKnown =
    (!isAsked("job") || jobs.data !== undefined) && (!isAsked("outgoing") || outgoing.data !== undefined);
  const countOf = (kind: "job" | "outgoing", total: number | undefined) => (isAsked(kind) ? (total ?? 0) : 0);
  return {
    total: isKnown ? countOf("job", jobs.data?.total) + countOf("outgoing", outgoing.data?.total) : null,
    error: jobs.error ?? outgoing.error,
    retry: () => {
      if (isAsked("job")) jobs.retry();
      if (isAsked("outgoing")) outgoing.retry();
    },
  };
}
