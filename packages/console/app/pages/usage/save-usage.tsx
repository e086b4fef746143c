import type { ItemOf, RequestOf } from "../../api/client.ts";
import { SaveCsv } from "../../ui/save-csv.tsx";
import type { Table } from "../../ui/save-csv.tsx";
import { USAGE_NUMBERS } from "../../usage/sum.ts";

type Asked = NonNullable<RequestOf<"getUsage">["query"]>;

/** The numbers of the period as a table: the same columns as `platform usage --csv`. */
export function SaveUsage({ asked }: { readonly asked: Asked }) {
  return <SaveCsv op="getUsage" request={{ query: asked }} what="usage lines" toTable={toTable} />;
}

function toTable(lines: readonly ItemOf<"getUsage">[]): Table {
  const currencies = [
    ...new Set(lines.flatMap(({ cost }) => cost.map(({ currency }) => currency))),
  ].toSorted();
  return {
    names: ["key", "label", ...USAGE_NUMBERS, ...currencies.map((currency) => `cost ${currency}`)],
    rows: lines.map((line) => [
      line.key,
      line.label,
      ...USAGE_NUMBERS.map((name) => line[name]),
      ...currencies.map((currency) => line.cost.find((money) => money.currency === currency)?.amount ?? "0"),
    ]),
  };
}
