import { Alert, Button, Group, List, Select, Stack, Text } from "@mantine/core";
import { useRef, useState } from "react";
import type { Service } from "@platform/contract/platform-api/services";
import { isNotFound } from "../api/explain-error.ts";
import { q, useFetched } from "../api/queries.ts";
import { useScope } from "../api/scope.tsx";
import { Can } from "../ui/can.tsx";
import { DropZone } from "../ui/drop-zone.tsx";
import { Facts } from "../ui/facts.tsx";
import { Failure } from "../ui/failure.tsx";
import { notifyDone } from "../ui/notify.ts";
import type { ProjectFacts } from "../util/read-project.ts";
import { formatBytes, formatCount } from "../util/units.ts";
import { useUpload } from "./use-upload.ts";
import type { Bump } from "./use-upload.ts";

interface Chosen {
  readonly archive: Uint8Array<ArrayBuffer>;
  readonly facts: ProjectFacts;
}

interface UploadProjectProps {
  /** The service that gets a version; absent: the one that the project names, which is created where there is none. */
  readonly service?: Pick<Service, "key" | "name" | "latestVersion">;
  readonly onUploaded: (service: { readonly key: string }, version: string) => void;
}

/** The ZIP file of `platform compress` becomes a version. It is looked into before anything is sent. */
export function UploadProject({ service, onUploaded }: UploadProjectProps) {
  const [chosen, setChosen] = useState<Chosen | null>(null);
  const [unreadable, setUnreadable] = useState<unknown>(null);
  const [error, setError] = useState<unknown>(null);
  // Before the first request as well, so that pressing twice sends once.
  const [isSending, setIsSending] = useState(false);
  const [bump, setBump] = useState<Bump>("patch");
  const upload = useProjectUpload(service);
  const most = useFetched(q("getConfiguration", {})).data?.limits.archiveBytes;
  const reading = useRef<File | undefined>(undefined);
  const choose = (file: File | undefined) => {
    setChosen(null);
    setError(null);
    setUnreadable(null);
    reading.current = file;
    if (file === undefined) return;
    // A larger file may be read for longer than the next one that is chosen.
    const unlessReplaced =
      <T,>(show: (read: T) => void) =>
      (read: T) =>
        reading.current === file ? show(read) : undefined;
    read(file, most).then(unlessReplaced(setChosen), unlessReplaced(setUnreadable));
  };
  const send = () => {
    if (chosen === null) return;
    setError(null);
    setIsSending(true);
    upload
      .run(chosen, bump)
      .then(({ key, version }) => onUploaded({ key }, version), setError)
      .finally(() => setIsSending(false));
  };
  return (
    <Stack>
      <DropZone
        words="Drop the ZIP file of a project here, or"
        button="Choose a file"
        label="ZIP file of the project"
        accept=".zip,application/zip"
        hint="What is in the project's folder, with platform.json at the top; platform compress makes it"
        choose={([file]) => choose(file)}
      />
      {unreadable !== null && <Failure error={unreadable} title="This file cannot be uploaded" />}
      {error !== null && <Failure error={error} />}
      {chosen !== null && (
        <>
          <ProjectSummary facts={chosen.facts} expected={service?.name} />
          <Group align="flex-end" justify="space-between">
            <ChooseBump service={service} name={chosen.facts.name} bump={bump} choose={setBump} />
            <Can op="createVersion">
              <Button loading={isSending} onClick={send}>
                Upload {formatBytes(chosen.archive.byteLength)}
              </Button>
            </Can>
          </Group>
        </>
      )}
    </Stack>
  );
}

interface ChooseBumpProps {
  readonly service: UploadProjectProps["service"];
  /** Of the project. */
  readonly name: string;
  readonly bump: Bump;
  readonly choose: (bump: Bump) => void;
}

/** What the number of the version will be: there is a choice only where there is a service, or may be one. */
function ChooseBump({ service, name, bump, choose }: ChooseBumpProps) {
  const isAsked = service === undefined;
  const { data, error } = useFetched(q("listServices", { query: { name } }), { isActive: isAsked });
  // Keeps its side of the line until it is known.
  if (isAsked && data === undefined && error === null) return <div />;
  if (isAsked && data?.items.length === 0)
    return (
      <Text c="dimmed" py={6}>
        It becomes version 1.0.0 of a new service.
      </Text>
    );
  const { latestVersion = null } = service ?? data?.items[0] ?? {};
  return (
    <Select
      label="Raise the version's number by"
      description={
        latestVersion === null
          ? "From its second version on; the first one is 1.0.0"
          : "Major: callers have to change what they send"
      }
      data={["patch", "minor", "major"]}
      value={bump}
      onChange={(value) => choose(value ?? "patch")}
      allowDeselect={false}
    />
  );
}

/** @param most the largest file that the platform takes; undefined: not known yet, it will say so */
async function read(file: File, most: number | undefined): Promise<Chosen> {
  if (most !== undefined && file.size > most)
    throw new Error(`It has ${formatBytes(file.size)}; the platform takes ${formatBytes(most)} at most.`);
  const archive = new Uint8Array(await file.arrayBuffer());
  const { readProject } = await import("../util/read-project.ts");
  return { archive, facts: await readProject(archive) };
}

function useProjectUpload(service: UploadProjectProps["service"]) {
  const { api } = useScope();
  const { toService, asService } = useUpload();
  return {
    run: async ({ archive, facts: { name, description } }: Chosen, bump: Bump) => {
      const found = service ?? (await api.listServices({ query: { name } })).items[0];
      const upload = { body: archive, bump };
      const begin = () => asService({ name, description }, upload);
      const { key, version, terminal } = await (found === undefined
        ? begin()
        : toService(found.key, upload).catch((error: unknown) => {
            // Found by its name, and removed since: by who has made it for an upload that was refused.
            if (service === undefined && isNotFound(error)) return begin();
            throw error;
          }));
      // A build that has just begun has not ended: this one was there before.
      if (terminal) notifyDone(`Nothing has changed: version ${version} has this content.`);
      return { key, version };
    },
  };
}

function ProjectSummary({
  facts,
  expected,
}: {
  readonly facts: ProjectFacts;
  readonly expected: string | undefined;
}) {
  return (
    <Stack gap="sm">
      <Facts
        of={{
          Project: facts.name,
          Description: facts.description === "" ? undefined : facts.description,
          Files: `${formatCount(facts.files)}, ${formatBytes(facts.bytes)}`,
        }}
      />
      {expected !== undefined && expected !== facts.name && (
        <Alert color="yellow" variant="light" title="Another project?">
          The project is called {facts.name}, the service {expected}.
        </Alert>
      )}
      {facts.doubtful.length > 0 && (
        <Alert color="yellow" variant="light" title="Is this meant to be uploaded?">
          <List fz="sm">
            {facts.doubtful.map((path) => (
              <List.Item key={path}>{path}</List.Item>
            ))}
          </List>
        </Alert>
      )}
    </Stack>
  );
}
