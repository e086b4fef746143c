import { Alert, List, Skeleton, Stack, Text } from "@mantine/core";
import type { VersionDetails } from "@platform/contract/platform-api/services";
import { q, useFetched } from "../../api/queries.ts";
import { VersionDifferences } from "../../execution/compare/version-differences.tsx";
import { Failure } from "../../ui/failure.tsx";
import { CallersOfFormer } from "./version-callers.tsx";

interface VersionChangesProps {
  readonly serviceKey: string;
  readonly of: VersionDetails;
}

/** What is different from the version before. */
export function VersionChanges({ serviceKey, of: one }: VersionChangesProps) {
  const { formerVersion } = one;
  const { data, error, retry } = useFetched(
    q("getVersion", { params: { key: serviceKey, version: formerVersion ?? "" } }),
    { isActive: formerVersion !== null },
  );
  if (formerVersion === null) return <Text c="dimmed">There is no version with a lower number.</Text>;
  if (error !== null) return <Failure error={error} retry={retry} />;
  if (data === undefined) return <Skeleton h={200} />;
  return <VersionDifferences level={2} before={data} after={one} />;
}

/** What callers of the version before it must know, and who they are; nothing where it breaks none. */
export function BreakingChanges({ serviceKey, of: { breakingChanges, formerVersion } }: VersionChangesProps) {
  if (breakingChanges.length === 0 || formerVersion === null) return null;
  return (
    <Alert color="yellow" variant="light" title={`It breaks callers of ${formerVersion}`}>
      <Stack gap={8} c="var(--mantine-color-text)">
        <List fz="sm">
          {breakingChanges.map((change) => (
            <List.Item key={change} style={{ overflowWrap: "anywhere" }}>
              {change}
            </List.Item>
          ))}
        </List>
        <CallersOfFormer serviceKey={serviceKey} version={formerVersion} />
      </Stack>
    </Alert>
  );
}
