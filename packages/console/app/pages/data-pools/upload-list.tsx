import { Button, Group, Paper, Progress, Stack, Text } from "@mantine/core";
import { useRef } from "react";
import type { ReactNode } from "react";
import { isOfWhatIsSent } from "../../api/explain-error.ts";
import { useScope } from "../../api/scope.tsx";
import { toFingerprint } from "../../api/upload-memory.ts";
import type { RememberedUpload, UploadTarget } from "../../api/upload-memory.ts";
import {
  continueUpload,
  giveUpRemembered,
  giveUpUpload,
  pauseUpload,
  startUploads,
  toTarget,
  useRememberedUploads,
  useUploads,
} from "../../api/uploads.ts";
import type { PoolUpload } from "../../api/uploads.ts";
import { Failure } from "../../ui/failure.tsx";
import { notifyFailure } from "../../ui/notify.ts";
import { formatBytes } from "../../util/units.ts";

const WORDS: Readonly<Record<PoolUpload["state"], string>> = {
  queued: "Waits for another upload",
  running: "Uploading",
  interrupted: "The connection is interrupted; trying again",
  paused: "Paused",
  failed: "Stopped",
};

/** Files that are on their way into a pool, and those that were. */
export function UploadList({ poolId }: { readonly poolId: string }) {
  const { me, organisation } = useScope();
  const isHere = ({ target }: { readonly target: UploadTarget }) =>
    target.poolId === poolId && target.userId === me?.id && target.organizationId === organisation?.id;
  const running = useUploads().filter(isHere);
  const interrupted = useRememberedUploads().filter(isHere);
  if (running.length + interrupted.length === 0) return null;
  return (
    <Stack gap="xs" role="list" aria-label="Uploads">
      {running.map((upload) => (
        <Running key={upload.id} upload={upload} />
      ))}
      {interrupted.map((upload) => (
        <Interrupted key={upload.key} upload={upload} poolId={poolId} />
      ))}
    </Stack>
  );
}

interface RowProps {
  readonly target: UploadTarget;
  readonly sent: number;
  readonly words: string;
  /** Buttons. */
  readonly children: ReactNode;
  readonly below?: ReactNode;
}

function Row({ target: { name, bytes }, sent, words, children, below }: RowProps) {
  return (
    <Paper withBorder p="sm" radius="md" role="listitem">
      <Group justify="space-between" gap="xs">
        <div style={{ minWidth: 0, overflowWrap: "anywhere" }}>
          <Text fw={600}>{name}</Text>
          <Text fz="sm" c="dimmed">
            <span role="status">{words}</span> · {formatBytes(sent)} of {formatBytes(bytes)}
          </Text>
        </div>
        <Group gap={6}>{children}</Group>
      </Group>
      <Progress mt="xs" value={bytes === 0 ? 0 : (sent / bytes) * 100} aria-label={`Uploaded of ${name}`} />
      {below}
    </Paper>
  );
}

function Running({ upload: { id, target, sent, state, error } }: { readonly upload: PoolUpload }) {
  const mayContinue = state === "paused" || state === "failed";
  return (
    <Row
      target={target}
      sent={sent}
      words={WORDS[state]}
      below={
        state === "failed" && (
          <div style={{ marginTop: "var(--mantine-spacing-sm)" }}>
            <Failure error={error} />
          </div>
        )
      }
    >
      {!isOfWhatIsSent(error) && (
        <Button
          size="compact-sm"
          variant="default"
          onClick={() => (mayContinue ? continueUpload(id) : pauseUpload(id))}
        >
          {mayContinue ? "Continue" : "Pause"}
        </Button>
      )}
      <Button size="compact-sm" variant="default" onClick={() => void giveUpUpload(id).catch(notifyFailure)}>
        Give up
      </Button>
    </Row>
  );
}

interface InterruptedProps {
  readonly upload: RememberedUpload;
  readonly poolId: string;
}

/** A page cannot keep a file: after a reload it has to be chosen again. */
function Interrupted({ upload, poolId }: InterruptedProps) {
  const scope = useScope();
  const input = useRef<HTMLInputElement>(null);
  const { target, sent } = upload;
  const choose = (file: File | undefined) => {
    if (file === undefined) return;
    if (toFingerprint(toTarget(scope, poolId, file)) === toFingerprint(target))
      startUploads(scope, poolId, [file]);
    else
      notifyFailure(
        new Error(
          `This is not ${target.name} as it was: name, size or time of the last change differ. Upload it anew.`,
        ),
      );
  };
  return (
    <Row target={target} sent={sent} words="Interrupted: choose the same file to go on">
      <Button size="compact-sm" onClick={() => input.current?.click()}>
        Continue
      </Button>
      <input
        ref={input}
        type="file"
        hidden
        aria-label={`The file ${target.name} again`}
        onChange={(event) => {
          choose(event.currentTarget.files?.[0]);
          event.currentTarget.value = "";
        }}
      />
      <Button
        size="compact-sm"
        variant="default"
        onClick={() => void giveUpRemembered(upload).catch(notifyFailure)}
      >
        Give up
      </Button>
    </Row>
  );
}
