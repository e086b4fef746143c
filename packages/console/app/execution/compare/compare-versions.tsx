import { Skeleton, Title } from "@mantine/core";
import { q, useFetched } from "../../api/queries.ts";
import { Failure } from "../../ui/failure.tsx";
import type { Execution } from "../advice.ts";
import { VersionDifferences } from "./version-differences.tsx";

interface CompareVersionsProps {
  readonly first: Execution;
  readonly second: Execution;
}

/** Where the versions differ that two executions are of, if they are of one service of the organisation: others' versions are their own. */
export function CompareVersions({ first, second }: CompareVersionsProps) {
  const key = first.service.key;
  const areSeen = [first, second].every(({ kind, service }) => kind !== "outgoing" && service.key === key);
  const options = { isActive: areSeen };
  const before = useFetched(q("getVersion", { params: { key, version: first.version } }), options);
  const after = useFetched(q("getVersion", { params: { key, version: second.version } }), options);
  if (!areSeen) return null;
  const error = before.error ?? after.error;
  return (
    <section aria-label="Versions">
      <Title order={2} fz="lg" mb="xs">
        Versions
      </Title>
      {error !== null ? (
        <Failure error={error} retry={before.error === null ? after.retry : before.retry} />
      ) : before.data === undefined || after.data === undefined ? (
        <Skeleton h={120} />
      ) : (
        <VersionDifferences level={3} before={before.data} after={after.data} />
      )}
    </section>
  );
}
