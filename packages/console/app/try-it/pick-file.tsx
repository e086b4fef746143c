import { Button, Group, NativeSelect, Skeleton, Stack, Text } from "@mantine/core";
import { useState } from "react";
import type { PoolFile } from "@platform/contract/platform-api/data-pools";
import { q, useFetched } from "../api/queries.ts";
import { useOrganisation } from "../api/scope.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { Failure } from "../ui/failure.tsx";
import { AppLink } from "../ui/link.tsx";
import { Unless } from "../ui/unless.tsx";
import { editJson } from "../util/edit-json.ts";
import { formatBytes } from "../util/units.ts";

/** What of a start a file takes the place of: the member, and that of its reference. */
const PARTS = { data: "dataRef", params: "paramsRef" } as const;
type Part = keyof typeof PARTS;

/** As many pools and files are offered. */
const MOST = 100;

interface PickFileProps {
  /** JSON text of a start's body. */
  readonly text: string;
  readonly change: (text: string) => void;
  /** Whether the text can be changed: it is JSON. */
  readonly isReady: boolean;
}

/** Lets a file of a data pool take the place of `data` or `params`. */
export function PickFile({ text, change, isReady }: PickFileProps) {
  const [isOpen, setIsOpen] = useState(false);
  const close = () => setIsOpen(false);
  return (
    <>
      <Unless reason={isReady ? null : "The input has to be JSON before."}>
        <Button
          variant="default"
          aria-haspopup="dialog"
          onClick={() => setIsOpen(true)}
          style={{ alignSelf: "flex-start" }}
        >
          Use a file of a data pool
        </Button>
      </Unless>
      <Dialog title="Use a file of a data pool" isOpen={isOpen} onClose={close}>
        {isOpen && (
          <ChoosePool
            close={close}
            use={(part, file) => {
              change(placeReference(text, part, file));
              close();
            }}
          />
        )}
      </Dialog>
    </>
  );
}

/** The text with a reference in place of a part. */
function placeReference(text: string, part: Part, { reference }: Pick<PoolFile, "reference">): string {
  return editJson(editJson(text, [part], null), [PARTS[part]], JSON.stringify(reference, null, 2));
}

interface ChoosePoolProps {
  readonly close: () => void;
  readonly use: (part: Part, file: PoolFile) => void;
}

function ChoosePool(props: ChoosePoolProps) {
  const { slug: org } = useOrganisation();
  const [chosen, choose] = useState<string | null>(null);
  const { data, error, retry } = useFetched(q("listDataPools", { query: { limit: MOST } }));
  if (error !== null) return <Failure error={error} retry={retry} />;
  if (data === undefined) return <Skeleton height={220} />;
  const pool = data.items.find(({ id }) => id === chosen) ?? data.items[0];
  if (pool === undefined)
    return (
      <Text>
        There is no data pool yet.{" "}
        <AppLink to="/o/$org/data-pools" params={{ org }}>
          Create one and upload a file
        </AppLink>
      </Text>
    );
  return (
    <Stack>
      <NativeSelect
        label="Data pool"
        data={data.items.map(({ id, name }) => ({ value: id, label: name }))}
        value={pool.id}
        onChange={(event) => choose(event.currentTarget.value)}
        data-autofocus
      />
      {data.nextCursor !== null && <More what="data pools" />}
      <ChooseFile key={pool.id} poolId={pool.id} {...props} />
    </Stack>
  );
}

function ChooseFile({ poolId, close, use }: ChoosePoolProps & { readonly poolId: string }) {
  const { slug: org } = useOrganisation();
  const [chosen, choose] = useState<string | null>(null);
  const [part, setPart] = useState<Part>("data");
  const { data, error, retry } = useFetched(
    q("listPoolFiles", { params: { id: poolId }, query: { limit: MOST } }),
  );
  if (error !== null) return <Failure error={error} retry={retry} />;
  if (data === undefined) return <Skeleton height={160} />;
  const file = data.items.find(({ fileId }) => fileId === chosen) ?? data.items[0];
  if (file === undefined)
    return (
      <Text>
        It has no files.{" "}
        <AppLink to="/o/$org/data-pools/$id" params={{ org, id: poolId }}>
          Upload one
        </AppLink>
      </Text>
    );
  return (
    <>
      <NativeSelect
        label="File"
        data={data.items.map(({ fileId, name, bytes }) => ({
          value: fileId,
          label: `${name} (${formatBytes(bytes)})`,
        }))}
        value={file.fileId}
        onChange={(event) => choose(event.currentTarget.value)}
      />
      {data.nextCursor !== null && <More what="files" />}
      <NativeSelect
        label="In place of"
        description="The file holds the JSON of it"
        data={Object.keys(PARTS)}
        value={part}
        onChange={(event) => setPart(event.currentTarget.value === "params" ? "params" : "data")}
      />
      <Group justify="flex-end">
        <Button variant="default" onClick={close}>
          Cancel
        </Button>
        <Button onClick={() => use(part, file)}>Use it</Button>
      </Group>
    </>
  );
}

function More({ what }: { readonly what: string }) {
  return (
    <Text fz="sm" c="dimmed">
      The first {MOST} {what} by name. Any other one is used by its Copy Text, which goes into the JSON.
    </Text>
  );
}
