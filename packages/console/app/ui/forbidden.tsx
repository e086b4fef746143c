import { Alert, Text } from "@mantine/core";
import { MAX_PAGE_SIZE } from "@platform/contract/limits";
import { q, useFetched } from "../api/queries.ts";

/** In the place of a page that the user's role does not open: why, and who could change that. */
export function Forbidden({ reason }: { readonly reason: string }) {
  const { data } = useFetched(q("listMembers", { query: { limit: MAX_PAGE_SIZE } }));
  const owners = (data?.items ?? []).filter(({ role }) => role === "owner").map(({ name }) => name);
  return (
    <Alert color="gray" variant="light" title="You may not see this page">
      <Text fz="sm" c="var(--mantine-color-text)" style={{ overflowWrap: "anywhere" }}>
        {reason} {owners.length > 0 && `Owners are ${owners.join(", ")}.`}
      </Text>
    </Alert>
  );
}
