import { Progress, Text } from "@mantine/core";
import type { StatusRecord } from "@platform/contract/execution";

/** What the code says of how far it is. */
export function ReportedProgress({ progress }: { readonly progress: StatusRecord["progress"] }) {
  if (progress === undefined) return null;
  const { fraction, message } = progress;
  const percent = fraction === undefined ? null : Math.round(fraction * 100);
  return (
    <div style={{ marginBottom: 16 }}>
      <Text fz="sm" mb={4} style={{ overflowWrap: "anywhere" }}>
        {[percent === null ? null : `${percent} %`, message].filter(Boolean).join(": ")}
      </Text>
      {percent !== null && <Progress value={percent} aria-label="Progress that the code has reported" />}
    </div>
  );
}
