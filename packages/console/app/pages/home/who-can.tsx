import { Text } from "@mantine/core";
import { listRoles } from "@platform/contract/permissions";
import { MAX_PAGE_SIZE } from "@platform/contract/limits";
import { ROUTES } from "../../api/client.ts";
import type { OperationId } from "../../api/client.ts";
import { q, useFetched } from "../../api/queries.ts";

/** So many are named. */
const MOST_NAMES = 3;

/** Who of the organisation can do what the user may not. */
export function WhoCan({ op }: { readonly op: OperationId }) {
  const { data } = useFetched(q("listMembers", { query: { limit: MAX_PAGE_SIZE } }));
  const roles = listRoles(ROUTES[op]);
  const names = (data?.items ?? []).filter(({ role }) => roles.includes(role)).map(({ name }) => name);
  const more = names.length - MOST_NAMES;
  return (
    <Text fz="sm" mt={4} style={{ overflowWrap: "anywhere" }}>
      {`This needs the role ${roles.join(" or ")}`}
      {names.length > 0 && `: ${names.slice(0, MOST_NAMES).join(", ")}${more > 0 ? ` and ${more} more` : ""}`}
      .
    </Text>
  );
}
