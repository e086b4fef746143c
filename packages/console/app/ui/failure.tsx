import { Alert, Button, Group, Stack, Text } from "@mantine/core";
import { explainError } from "../api/explain-error.ts";
import { CopyLine } from "./copy-button.tsx";

/** What failed, in the place of what failed. `retry`: absent where trying again is of no use. */
export function Failure({ error, retry }: { readonly error: unknown; readonly retry?: () => void }) {
  const { title, detail, code, requestId } = explainError(error);
  return (
    <Alert color="red" variant="light" title={title} role="alert">
      <Stack gap="xs">
        <Text fz="sm" c="var(--mantine-color-text)">
          {detail}
        </Text>
        {(code !== undefined || requestId !== undefined) && (
          <Group gap="md">
            {code !== undefined && <span className="mono">{code}</span>}
            {requestId !== undefined && <CopyLine text={requestId} what="request id" />}
          </Group>
        )}
        {retry !== undefined && (
          <Group>
            <Button size="xs" variant="default" onClick={retry}>
              Try again
            </Button>
          </Group>
        )}
      </Stack>
    </Alert>
  );
}
