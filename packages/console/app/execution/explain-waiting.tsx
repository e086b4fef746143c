import { Alert, Text } from "@mantine/core";
import { q, REFRESH_MS, useFetched } from "../api/queries.ts";
import { Time, useNow } from "../ui/time.tsx";
import { formatDuration, parseTimestamp } from "../util/times.ts";
import { formatCount } from "../util/units.ts";

interface ExplainWaitingProps {
  readonly id: string;
  /** When it is likely to begin; null or absent: nobody can say. */
  readonly likelyStart?: string | null;
}

/** Why an execution does not run yet, as of now; asked again while it waits. */
export function ExplainWaiting({ id, likelyStart = null }: ExplainWaitingProps) {
  const { data } = useFetched(q("explainExecution", { params: { id } }), { refresh: REFRESH_MS.unfinished });
  if (data === undefined || data.reason === "NOT_WAITING" || data.reason === "CLAIMED") return null;
  const { text, ahead, typicalWaitMs, startBy } = data;
  return (
    <Alert variant="light" color="blue" title="Why it waits" mb="md" role="status">
      <Text fz="sm" c="var(--mantine-color-text)">
        {text}
      </Text>
      <Text fz="sm" c="var(--mantine-color-text)" mt={4}>
        {[
          ahead === undefined ? null : `${formatCount(ahead)} ahead`,
          typicalWaitMs === undefined ? null : `typical wait ${formatDuration(typicalWaitMs)}`,
        ]
          .filter((part) => part !== null)
          .join(", ")}
        {likelyStart !== null && <LikelyStart at={likelyStart} />}
        {startBy !== undefined && (
          <>
            {" "}
            It ends if it has not begun by <Time at={startBy} as="exact" />.
          </>
        )}
      </Text>
    </Alert>
  );
}

/** An estimate that has passed says no more than that it should not be long. */
function LikelyStart({ at }: { readonly at: string }) {
  const isAhead = parseTimestamp(at) > useNow();
  return <> It is likely to begin {isAhead ? <Time at={at} /> : "soon"}.</>;
}
