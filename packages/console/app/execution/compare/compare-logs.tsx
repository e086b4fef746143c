import { Skeleton, Text, Title } from "@mantine/core";
import { lazy, Suspense } from "react";
import { q, useFetched } from "../../api/queries.ts";
import { Failure } from "../../ui/failure.tsx";
import { formatCount } from "../../util/units.ts";
import type { Execution } from "../advice.ts";
import { isTailCut } from "../is-tail-cut.ts";

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
        <Both before={before.data.items} after={after.data.items} />
      )}
    </section>
  );
}

type Lines = readonly { readonly severity: string; readonly message: string }[];

function Both({ before, after }: { readonly before: Lines; readonly after: Lines }) {
  const isCut = isTailCut(before, TAIL) || isTailCut(after, TAIL);
  const [former, later] = [toText(before), toText(after)];
  if (former === later)
    return (
      <Text>
        {isCut
          ? `The last ${formatCount(before.length)} lines of both are the same. Those before them, if there are any, are not compared.`
          : "Both have written the same."}
      </Text>
    );
  return (
    <>
      {isCut && (
        <Text c="dimmed" mb="xs">
          The last lines of each log are compared, {formatCount(TAIL)} at most.
        </Text>
      )}
      <Suspense fallback={<Skeleton h={120} />}>
        <TextDifference before={former} after={later} label="Log" />
      </Suspense>
    </>
  );
}

function toText(lines: Lines): string {
  return lines.map(({ severity, message }) => `${severity} ${message}`).join("\n");
}
