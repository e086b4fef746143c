import { Button } from "@mantine/core";
import { useState } from "react";
import { useReadAll } from "../../api/queries.ts";
import type { RequestOf } from "../../api/client.ts";
import { notifyDone, notifyFailure } from "../../ui/notify.ts";
import { saveText } from "../../ui/secret-once.tsx";
import { USAGE_NUMBERS } from "../../usage/sum.ts";
import { toCsv } from "../../util/csv.ts";
import { formatCount } from "../../util/units.ts";

/** Rows of one file. */
const MOST_ROWS = 10_000;

type Asked = NonNullable<RequestOf<"getUsage">["query"]>;

/** Saves the numbers of the period, also what the page has not loaded; the same columns as `platform usage --csv`. */
export function SaveUsage({ asked }: { readonly asked: Asked }) {
  const [isRunning, setIsRunning] = useState(false);
  const readAll = useReadAll("getUsage");
  const save = async () => {
    const { items, isWhole } = await readAll({ query: asked }, MOST_ROWS);
    const currencies = [
      ...new Set(items.flatMap(({ cost }) => cost.map(({ currency }) => currency))),
    ].toSorted();
    const rows = items.map((line) => [
      line.key,
      line.label,
      ...USAGE_NUMBERS.map((name) => line[name]),
      ...currencies.map((currency) => line.cost.find((money) => money.currency === currency)?.amount ?? "0"),
    ]);
    const names = ["key", "label", ...USAGE_NUMBERS, ...currencies.map((currency) => `cost ${currency}`)];
    saveText("usage.csv", toCsv(names, rows), "text/csv;charset=utf-8");
    notifyDone(
      isWhole
        ? `${formatCount(items.length)} ${items.length === 1 ? "line" : "lines"} saved.`
        : `The first ${formatCount(items.length)} lines saved. There are more: choose a shorter period for them.`,
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
