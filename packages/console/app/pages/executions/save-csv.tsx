import type { ItemOf } from "../../api/client.ts";
import type { ExecutionFilter } from "../../execution/filter.ts";
import { describeCaller } from "../../execution/kinds.ts";
import { SaveCsv } from "../../ui/save-csv.tsx";

const NAMES = [
  "id",
  "kind",
  "status",
  "code",
  "service",
  "version",
  "started_by",
  "created_at",
  "started_at",
  "ended_at",
  "waited_ms",
  "ran_ms",
];

/** The executions that the filter matches, as a table. */
export function SaveExecutions({ filter }: { readonly filter: ExecutionFilter }) {
  return (
    <SaveCsv
      op="listExecutions"
      request={{ query: filter }}
      what="executions"
      toTable={(items) => ({ names: NAMES, rows: items.map(toRow) })}
    />
  );
}

function toRow(one: ItemOf<"listExecutions">): readonly (string | number)[] {
  return [
    one.id,
    one.kind,
    one.status,
    one.code ?? "",
    one.service.name,
    one.version,
    describeCaller(one),
    one.createdAt,
    one.startedAt ?? "",
    one.endedAt ?? "",
    one.waitedMs,
    one.ranMs ?? "",
  ];
}
