import { Button } from "@mantine/core";
import type { ItemOf, RequestOf } from "../api/client.ts";
import { useReadAll } from "../api/queries.ts";
import type { ListOperation } from "../api/queries.ts";
import { toCsv } from "../util/csv.ts";
import { formatCount } from "../util/units.ts";
import { notifyDone } from "./notify.ts";
import { saveText } from "./save.ts";
import { useOnePress } from "./use-one-press.ts";

/** Rows of one file. */
const MOST_ROWS = 10_000;

interface SaveCsvProps<K extends ListOperation> {
  /** The list. */
  readonly op: K;
  /** With the filter. */
  readonly request: RequestOf<K>;
  /** What is in it, for the name of the file and for what is said: "executions". */
  readonly what: string;
  readonly toTable: (items: readonly ItemOf<K>[]) => Table;
}

/** What a file has. */
export interface Table {
  /** Of the columns. */
  readonly names: readonly string[];
  readonly rows: readonly (readonly (string | number)[])[];
}

/** Saves what the filter matches as a table, also what the page has not loaded. */
export function SaveCsv<K extends ListOperation>({ op, request, what, toTable }: SaveCsvProps<K>) {
  const readAll = useReadAll(op);
  const { isRunning, press } = useOnePress(async () => {
    const { items, isWhole } = await readAll(request, MOST_ROWS);
    const { names, rows } = toTable(items);
    saveText(`${what.replaceAll(" ", "-")}.csv`, toCsv(names, rows), "text/csv;charset=utf-8");
    notifyDone(
      isWhole
        ? `${formatCount(items.length)} ${what} saved.`
        : `The first ${formatCount(items.length)} ${what} saved. There are more: choose a shorter period for them.`,
    );
  });
  return (
    <Button variant="default" loading={isRunning} onClick={press}>
      Save as CSV
    </Button>
  );
}
