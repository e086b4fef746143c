import { Badge, Group } from "@mantine/core";
import type { ItemOf } from "../../api/client.ts";
import { pages, useChange, useLoadedPages } from "../../api/queries.ts";
import { DataTable } from "../../table/data-table.tsx";
import type { Column } from "../../table/data-table.tsx";
import { ConfirmButton } from "../../ui/confirm.tsx";
import { CopyAs } from "../../ui/copy-as.tsx";
import { Time } from "../../ui/time.tsx";
import { nameBrowser } from "../../util/browser-name.ts";
import { AccountFrame } from "./account-frame.tsx";

type Session = ItemOf<"listSessions">;

/** The browsers in which the user is signed in. */
export function SessionsPage() {
  const sessions = useLoadedPages(pages("listSessions", {}));
  return (
    <AccountFrame
      title="Sessions"
      description="Browsers in which you are signed in. End what you do not know, and change your password."
      actions={<CopyAs op="listSessions" request={{}} />}
    >
      <DataTable label="Sessions" columns={COLUMNS} rows={sessions} rowKey={({ id }) => id} empty={null} />
    </AccountFrame>
  );
}

const COLUMNS: readonly Column<Session>[] = [
  {
    id: "device",
    label: "Browser",
    cell: ({ device, current }) => (
      <Group gap={6}>
        <span title={device}>{nameBrowser(device)}</span>
        {current && <Badge>This one</Badge>}
      </Group>
    ),
  },
  { id: "ip", label: "Address", cell: ({ ip }) => <span className="mono">{ip}</span> },
  { id: "seen", label: "Last used", cell: ({ lastSeenAt }) => <Time at={lastSeenAt} /> },
  { id: "created", label: "Signed in", cell: ({ createdAt }) => <Time at={createdAt} />, priority: 3 },
  { id: "actions", label: "", align: "end", cell: (session) => <EndSession of={session} /> },
];

function EndSession({ of: { id, current } }: { readonly of: Session }) {
  const revoke = useChange("revokeSession", { done: "Session ended.", refresh: ["listSessions"] });
  // This one ends by signing out, which clears what the browser has read as well.
  if (current) return null;
  return (
    <ConfirmButton
      op="revokeSession"
      label="End"
      question="End this session?"
      button={{ size: "compact-sm" }}
      run={() => revoke.run({ params: { id } })}
    >
      That browser is signed out within seconds.
    </ConfirmButton>
  );
}
