import { Button, Stack, Text } from "@mantine/core";
import { useEffect, useRef, useState } from "react";
import type { PlatformApi } from "../../api/client.ts";
import { useScope } from "../../api/scope.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Failure } from "../../ui/failure.tsx";
import { formatCount } from "../../util/units.ts";

/** What has come of comparing the log so far. */
type Verification =
  | { readonly state: "running"; readonly checked: number }
  | { readonly state: "whole"; readonly checked: number }
  | { readonly state: "broken"; readonly firstBroken: string }
  | { readonly state: "failed"; readonly error: unknown };

/** Compares the whole log with its hashes, part by part, and says what was found. */
export function VerifyLog() {
  const { api } = useScope();
  const [found, setFound] = useState<Verification | null>(null);
  const running = useRef<AbortController>(null);
  useEffect(() => () => running.current?.abort(), []);
  const start = () => {
    const { signal } = (running.current = new AbortController());
    const show = (verification: Verification) => {
      if (!signal.aborted) setFound(verification);
    };
    show({ state: "running", checked: 0 });
    verify(api, signal, show).then(show, (error: unknown) => show({ state: "failed", error }));
  };
  const close = () => {
    running.current?.abort();
    setFound(null);
  };
  return (
    <>
      <Button variant="default" aria-haspopup="dialog" onClick={start}>
        Verify
      </Button>
      <Dialog title="Is the log as it was written?" isOpen={found !== null} onClose={close}>
        <Stack>
          <div role="status">{found !== null && <Finding of={found} />}</div>
          <Text fz="sm" c="dimmed">
            Each entry has a hash of itself and of the one before it, so that one that was changed or removed
            shows. Who may do everything with the database could compute a whole new log: a copy that is kept
            elsewhere shows that.
          </Text>
        </Stack>
      </Dialog>
    </>
  );
}

function Finding({ of: found }: { readonly of: Verification }) {
  switch (found.state) {
    case "running":
      return <Text>{formatCount(found.checked)} entries compared so far.</Text>;
    case "whole":
      return (
        <Text>
          Yes: {formatCount(found.checked)} {found.checked === 1 ? "entry" : "entries"} compared, and none is
          missing or was changed.
        </Text>
      );
    case "broken":
      return <Text fw={600}>No: entry {found.firstBroken} is missing or was changed.</Text>;
    case "failed":
      return <Failure error={found.error} />;
    default:
      return found satisfies never;
  }
}

async function verify(
  api: PlatformApi,
  signal: AbortSignal,
  onPart: (so: Verification) => void,
): Promise<Verification> {
  let cursor: string | null = null;
  let checked = 0;
  do {
    const query: { cursor?: string } = cursor === null ? {} : { cursor };
    const part = await api.verifyAuditLog({ query, signal });
    if (part.firstBroken !== null) return { state: "broken", firstBroken: part.firstBroken };
    checked += part.checked;
    cursor = part.nextCursor;
    onPart({ state: "running", checked });
  } while (cursor !== null);
  return { state: "whole", checked };
}
