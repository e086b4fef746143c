import { Alert, Text } from "@mantine/core";
import { q, REFRESH_MS, useFetched } from "../api/queries.ts";
import { Time } from "../ui/time.tsx";
import { formatDuration } from "../util/times.ts";
import { formatCount } from "../util/units.ts";

/** Why an execution does not run yet, as of now; asked again while it waits. */
export function ExplainWaiting({ id }: { readonly id: string }) {
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
