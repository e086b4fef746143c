import { Alert, Button, Group, Stack, Text } from "@mantine/core";
import type { ReactNode } from "react";
import { explainError } from "../api/explain-error.ts";
import { CopyLine } from "./copy-button.tsx";

interface FailureProps {
  readonly error: unknown;
  /** What has failed, where the error itself cannot know; default: as its status and code are explained. */
  readonly title?: string;
  /** Absent where trying again is of no use. */
  readonly retry?: () => void;
  /** What to do, where the page knows. */
  readonly children?: ReactNode;
}

/** What failed, in the place of what failed. */
export function Failure({ error, title: known, retry, children }: FailureProps) {
  const { title: explained, detail, code, requestId } = explainError(error);
  const title = known ?? explained;
  return (
    <Alert color="red" variant="light" title={title} role="alert">
      <Stack gap="xs">
        <Text fz="sm" c="var(--mantine-color-text)">
          {detail}
        </Text>
        {children}
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
