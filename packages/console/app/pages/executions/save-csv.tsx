import { Button } from "@mantine/core";
import { useState } from "react";
import { useReadAll } from "../../api/queries.ts";
import type { ExecutionFilter } from "../../execution/filter.ts";
import { describeCaller } from "../../execution/kinds.ts";
import { notifyDone, notifyFailure } from "../../ui/notify.ts";
import { saveText } from "../../ui/secret-once.tsx";
import { toCsv } from "../../util/csv.ts";
import { formatCount } from "../../util/units.ts";

/** Rows of one file. */
const MOST_ROWS = 10_000;
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

/** Saves what the filter matches as a table, also what the page has not loaded. */
export function SaveCsv({ filter }: { readonly filter: ExecutionFilter }) {
  const [isRunning, setIsRunning] = useState(false);
  const readAll = useReadAll("listExecutions");
  const save = async () => {
    const { items, isWhole } = await readAll({ query: filter }, MOST_ROWS);
    const rows = items.map((one) => [
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
    ]);
    saveText("executions.csv", toCsv(NAMES, rows), "text/csv;charset=utf-8");
    notifyDone(
      isWhole
        ? `${formatCount(items.length)} executions saved.`
        : `The newest ${formatCount(items.length)} executions saved. There are more: choose a shorter period for them.`,
    );
  };
  return (
    <Button
      variant="default"
      loading={isRunning}
      onClick={() => {
        setIsRunning(true);
        save()
          .catch(notifyFailure)
          .finally(() => setIsRunning(false));
      }}
    >
      Save as CSV
    </Button>
  );
}
