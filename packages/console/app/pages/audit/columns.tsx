import { Badge, Group, Text } from "@mantine/core";
import type { AuditEvent } from "@platform/contract/platform-api/audit";
import type { Column } from "../../table/data-table.tsx";
import { Time } from "../../ui/time.tsx";

const WRAPS = { overflowWrap: "anywhere" } as const;

/** The columns of the audit log. */
export const AUDIT_COLUMNS: readonly Column<AuditEvent>[] = [
  { id: "at", label: "When", cell: ({ at }) => <Time at={at} as="exact" /> },
  { id: "actor", label: "Who", cell: ({ actor }) => <Actor of={actor} /> },
  { id: "action", label: "What", cell: (event) => <What of={event} /> },
  { id: "target", label: "To what", cell: ({ target }) => <Target of={target} /> },
  {
    id: "ip",
    label: "From",
    cell: ({ ip }) => (ip === "" ? "an execution" : <span className="mono unbroken">{ip}</span>),
    priority: 3,
  },
];

/** How the actor has shown who they are. */
function describeCredential({ kind, credential }: AuditEvent["actor"]): string {
  if (kind === "claimed") return "did not prove it";
  if (kind === "application") return "application";
  const [by = ""] = (credential ?? "").split(":");
  const words = { token: "with a token", session: "in a browser" }[by] ?? "without credentials";
  return kind === "operator" ? `operator, ${words}` : words;
}

function Actor({ of: actor }: { readonly of: AuditEvent["actor"] }) {
  return (
    <div style={{ minWidth: 130 }}>
      <div style={WRAPS}>{actor.name === "" ? "nobody known" : actor.name}</div>
      <Text fz="xs" c="dimmed">
        {describeCredential(actor)}
      </Text>
    </div>
  );
}

function What({ of: { action, outcome, code, changes } }: { readonly of: AuditEvent }) {
  return (
    <div style={{ minWidth: 150, ...WRAPS }}>
      <Group gap={6}>
        <span className="mono unbroken">{action}</span>
        {outcome === "refused" && <Badge title={code ?? ""}>Refused</Badge>}
      </Group>
      {changes.map((change) => (
        <Text key={change.field} fz="xs" c="dimmed" lineClamp={3} title={describeChange(change)}>
          {describeChange(change)}
        </Text>
      ))}
    </div>
  );
}

function describeChange({ field, before, after }: AuditEvent["changes"][number]): string {
  return `${field}: ${before === null ? "" : `${before} → `}${after ?? "none"}`;
}

function Target({ of: { type, id } }: { readonly of: AuditEvent["target"] }) {
  return (
    <div style={{ minWidth: 120 }}>
      <div>{type}</div>
      {id !== null && (
        <Text fz="xs" c="dimmed" className="mono">
          {id}
        </Text>
      )}
    </div>
  );
}

/** Columns of the file. */
export const CSV_NAMES = [
  "id",
  "at",
  "actor_kind",
  "actor_id",
  "actor",
  "credential",
  "action",
  "outcome",
  "code",
  "target_type",
  "target",
  "ip",
  "changes",
  "hash",
];

/** An entry as a row of the file. */
export function toCsvRow(event: AuditEvent): readonly string[] {
  const { id, milliseconds, actor, action, outcome, code, target, ip, changes, hash } = event;
  return [
    id,
    new Date(milliseconds).toISOString(),
    actor.kind,
    actor.id ?? "",
    actor.name,
    actor.credential ?? "",
    action,
    outcome,
    code ?? "",
    target.type,
    target.path ?? "",
    ip,
    changes.length === 0 ? "" : JSON.stringify(changes),
    hash,
  ];
}
