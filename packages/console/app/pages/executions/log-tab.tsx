import { Skeleton, Text } from "@mantine/core";
import { MOST_LAST_LINES } from "@platform/contract/limits";
import { q, REFRESH_MS, useFetched } from "../../api/queries.ts";
import type { Execution } from "../../execution/advice.ts";
import { isTailCut } from "../../execution/is-tail-cut.ts";
import type { LogSnapshot } from "../../execution/log-store.ts";
import { LogView } from "../../execution/log-view.tsx";
import { Failure } from "../../ui/failure.tsx";

interface LogTabProps {
  readonly execution: Execution;
  readonly followed: { readonly log: LogSnapshot; readonly refusal: Error | null };
}

/** What the code has written. */
export function LogTab({ execution, followed: { log, refusal } }: LogTabProps) {
  if (!execution.isLogShown)
    return (
      <Text c="dimmed">
        {execution.kind === "incoming"
          ? "The subscription does not share its logs with the provider."
          : "The provider of this service does not show logs to subscribers."}
      </Text>
    );
  if (refusal !== null) return <Failure error={refusal} />;
  if (execution.kind === "incoming") return <SharedLog execution={execution} />;
  return <LogView log={log} fileName={`${execution.id}.log`} />;
}

/** The log of an incoming execution is not streamed: its end is asked for again until the answer says that there is no more. */
function SharedLog({ execution: { id } }: { readonly execution: Execution }) {
  const { data, error, retry } = useFetched(
    q("getExecutionLog", { params: { id }, query: { tail: MOST_LAST_LINES } }),
    // Not until the execution has ended: its last lines are behind the answer from before.
    { refresh: ({ nextSeq }) => (nextSeq === null ? false : REFRESH_MS.unfinished) },
  );
  if (error !== null) return <Failure error={error} retry={retry} />;
  if (data === undefined) return <Skeleton h={240} />;
  const log = { lines: data.items, hasEnded: data.nextSeq === null, dropped: 0 };
  return (
    <>
      <LogView log={log} fileName={`${id}.log`} />
      {isTailCut(data.items, MOST_LAST_LINES) && (
        <Text fz="sm" c="dimmed">
          These are the last lines. Those before them, if there are any, are not shown here.
        </Text>
      )}
    </>
  );
}
