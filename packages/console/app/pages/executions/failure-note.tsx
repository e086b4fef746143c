import { Alert, Stack, Text } from "@mantine/core";
import { explainCode } from "../../execution/advice.ts";
import type { Execution } from "../../execution/advice.ts";

/** Why it did not succeed: the code, what it means, what the platform or the code says, and what to do. */
export function FailureNote({ execution }: { readonly execution: Execution }) {
  const { code, detail, status } = execution;
  if (code === undefined) return null;
  const explained = explainCode(execution);
  return (
    <Alert
      color={status === "UNKNOWN" ? "orange" : "red"}
      variant="light"
      title={explained?.meaning ?? "The service has ended it with a code of its own."}
      mb="md"
    >
      <Stack gap={6}>
        <Text
          fz="sm"
          c="var(--mantine-color-text)"
          style={{ overflowWrap: "anywhere", whiteSpace: "pre-wrap" }}
        >
          <span className="mono">{code}</span>
          {detail !== undefined && ` ${detail}`}
        </Text>
        {explained !== null && (
          <Text fz="sm" c="var(--mantine-color-text)">
            <b>What to do:</b> {explained.advice}
          </Text>
        )}
      </Stack>
    </Alert>
  );
}
