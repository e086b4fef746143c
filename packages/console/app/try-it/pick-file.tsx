import { Button, Group, NativeSelect, Skeleton, Stack, Text, TextInput } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { useState } from "react";
import { MAX_PAGE_SIZE } from "@platform/contract/limits";
import type { PoolFile } from "@platform/contract/platform-api/data-pools";
import { SEARCH_LIMITS } from "@platform/contract/search-limits";
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

/** Who types on is not searched for yet. */
const PAUSE_MS = 250;

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
  const { data, error, retry } = useFetched(q("listDataPools", { query: { limit: MAX_PAGE_SIZE } }));
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
      {data.nextCursor !== null && (
        <Text fz="sm" c="dimmed">
          The first {MAX_PAGE_SIZE} data pools by name. A file of any other one is used by its Copy Text,
          which goes into the JSON.
        </Text>
      )}
      <ChooseFile key={pool.id} poolId={pool.id} {...props} />
    </Stack>
  );
}

interface ChooseFileProps extends ChoosePoolProps {
  readonly poolId: string;
}

function ChooseFile(props: ChooseFileProps) {
  const [typed, type] = useState("");
  const wanted = typed.trim();
  const [words] = useDebouncedValue(wanted, PAUSE_MS);
  return (
    <>
      <TextInput
        label="Name contains"
        type="search"
        maxLength={SEARCH_LIMITS.poolFile}
        value={typed}
        onChange={(event) => type(event.currentTarget.value)}
      />
      {/* Of what was found for other words, none is offered. */}
      {words === wanted ? <FoundFiles key={words} words={words} {...props} /> : <Skeleton height={160} />}
    </>
  );
}

function FoundFiles({ poolId, words, close, use }: ChooseFileProps & { readonly words: string }) {
  const [chosen, choose] = useState<string | null>(null);
  const [part, setPart] = useState<Part>("data");
  const query = { limit: MAX_PAGE_SIZE, ...(words === "" ? {} : { q: words }) };
  const { data, error, retry } = useFetched(q("listPoolFiles", { params: { id: poolId }, query }));
  if (error !== null) return <Failure error={error} retry={retry} />;
  if (data === undefined) return <Skeleton height={160} />;
  const file = data.items.find(({ fileId }) => fileId === chosen) ?? data.items[0];
  if (file === undefined)
    return words === "" ? <NoFiles poolId={poolId} /> : <Text>No file of it has this in its name.</Text>;
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
      {data.nextCursor !== null && (
        <Text fz="sm" c="dimmed">
          The first {MAX_PAGE_SIZE} files by name; others are found by a part of their names.
        </Text>
      )}
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

function NoFiles({ poolId }: { readonly poolId: string }) {
  const { slug: org } = useOrganisation();
  return (
    <Text>
      It has no files.{" "}
      <AppLink to="/o/$org/data-pools/$id" params={{ org, id: poolId }}>
        Upload one
      </AppLink>
    </Text>
  );
}
