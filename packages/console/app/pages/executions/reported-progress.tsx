import { Group, Progress, Text } from "@mantine/core";
import type { StatusRecord } from "@platform/contract/execution";

/** What the code says of how far it is. Its bar is short and beside its words: as wide as the timeline below it, the two would be read as one. */
export function ReportedProgress({ progress }: { readonly progress: StatusRecord["progress"] }) {
  if (progress === undefined) return null;
  const { fraction, message } = progress;
  const percent = fraction === undefined ? null : Math.round(fraction * 100);
  return (
    <Group gap="sm" mb="md">
      {percent !== null && (
        <Progress w={200} value={percent} aria-label="Progress that the code has reported" />
      )}
      <Text fz="sm" style={{ overflowWrap: "anywhere" }}>
        {[percent === null ? null : `${percent} %`, message].filter(Boolean).join(": ")}
      </Text>
    </Group>
  );
}
