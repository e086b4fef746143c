import { Alert, List, Stack, Text } from "@mantine/core";
import { q, useFetched } from "../../api/queries.ts";
import { refuseReplay, toReplay } from "../../execution/advice.ts";
import type { Execution } from "../../execution/advice.ts";
import { CopyLine } from "../../ui/copy-button.tsx";
import { RoutedDialog } from "../../ui/dialog.tsx";
import { OpenButton } from "../../ui/open-button.tsx";

interface ReplayProps {
  readonly execution: Execution;
}

/** How the same execution is run on the machine of who looks at it, or why it cannot be. */
export function ReplayLocally({ execution }: ReplayProps) {
  return (
    <>
      <OpenButton op="downloadArchive" set={{ open: "replay" }} variant="default">
        Replay locally
      </OpenButton>
      <RoutedDialog title="Replay on your machine" when={["open", "replay"]} width={640}>
        {() => <Replay execution={execution} />}
      </RoutedDialog>
    </>
  );
}

function Replay({ execution }: ReplayProps) {
  const { id, service, version, kind } = execution;
  const refusal = refuseReplay(execution);
  const isUnsure = refusal === null && kind === "outgoing";
  // Of a service of somebody else there is no archive to be had.
  const { data } = useFetched(q("listServices", { query: { name: service.name } }), { isActive: isUnsure });
  const isOthers = isUnsure && data !== undefined && !data.items.some(({ key }) => key === service.key);
  const why = isOthers
    ? `${service.name} belongs to another organisation: its code is not given to those who call it.`
    : refusal;
  return (
    <Stack gap="sm">
      <Text fz="sm">
        Runs the same version with the same input on your machine, and says whether it ends the same: state,
        code, and each byte of the result. Nothing is started on the platform, and nothing is left behind.
      </Text>
      {why !== null && (
        <Alert color="yellow" variant="light" title="This one cannot be replayed">
          <Text fz="sm" c="var(--mantine-color-text)">
            {why}
          </Text>
        </Alert>
      )}
      {why === null && (!isUnsure || data !== undefined) && <Needs id={id} version={version} />}
    </Stack>
  );
}

function Needs({ id, version }: { readonly id: string; readonly version: string }) {
  return (
    <>
      <CopyLine text={toReplay(id)} what="replay command" />
      <Text fz="sm">It fetches version {version} and the input, installs what it requires, and runs it.</Text>
      <List fz="sm" spacing={6}>
        <List.Item>
          It needs the command line, logged in here:{" "}
          <CopyLine text={`platform login --endpoint ${globalThis.location.origin}`} what="login command" />
        </List.Item>
        <List.Item>
          Variables and secrets stay on the platform: <span className="mono">--env-file FILE</span> names a
          file with yours.
        </List.Item>
        <List.Item>
          Files that the input refers to are taken from the folder <span className="mono">datapools</span> (
          <span className="mono">--pools FOLDER</span>): download them into a folder there, and save the list
          of the pool beside it, e.g.{" "}
          <CopyLine
            text="platform pools ls Maps --json > datapools/Maps.json"
            what="command that saves the list of a pool"
          />
        </List.Item>
      </List>
    </>
  );
}
