import { Skeleton, Text, Title } from "@mantine/core";
import { lazy, Suspense } from "react";
import { q, useFetched } from "../../api/queries.ts";
import { Failure } from "../../ui/failure.tsx";
import type { Execution } from "../advice.ts";

const TextDifference = lazy(async () => ({
  default: (await import("./text-difference.tsx")).TextDifference,
}));

/** The last lines of each log are compared. */
const TAIL = 2_000;

/** The logs of two executions side by side, without their times: only what differs is unfolded. */
export function CompareLogs({ first, second }: { readonly first: Execution; readonly second: Execution }) {
  const areShown = first.isLogShown && second.isLogShown;
  const before = useFetched(q("getExecutionLog", { params: { id: first.id }, query: { tail: TAIL } }), {
    isActive: areShown,
  });
  const after = useFetched(q("getExecutionLog", { params: { id: second.id }, query: { tail: TAIL } }), {
    isActive: areShown,
  });
  const error = before.error ?? after.error;
  return (
    <section aria-label="Log">
      <Title order={2} fz="lg" mb="xs">
        Log
      </Title>
      {!areShown ? (
        <Text c="dimmed">The log of one of them is not shown.</Text>
      ) : error !== null ? (
        <Failure error={error} retry={before.error === null ? after.retry : before.retry} />
      ) : before.data === undefined || after.data === undefined ? (
        <Skeleton h={120} />
      ) : (
        <Both before={toLines(before.data.items)} after={toLines(after.data.items)} />
      )}
    </section>
  );
}

function Both({ before, after }: { readonly before: string; readonly after: string }) {
  if (before === after) return <Text>Both have written the same.</Text>;
  return (
    <Suspense fallback={<Skeleton h={120} />}>
      <TextDifference before={before} after={after} label="Log" />
    </Suspense>
  );
}

function toLines(lines: readonly { readonly severity: string; readonly message: string }[]): string {
  return lines.map(({ severity, message }) => `${severity} ${message}`).join("\n");
}
