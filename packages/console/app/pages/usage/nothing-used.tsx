import { Button } from "@mantine/core";
import { useSetSearch } from "../../ui/dialog.tsx";
import { EmptyState } from "../../ui/empty-state.tsx";
import { useNow } from "../../ui/time.tsx";
import type { Side } from "../../usage/query.ts";
import { listPeriods } from "../../util/days.ts";
import type { Period } from "../../util/days.ts";

const WHY = {
  consumer:
    "No execution of the organisation's applications, and no job of its members, that was started on these days has ended.",
  provider:
    "No execution that a subscriber of the organisation's services has started on these days has ended. Services are used by others once they are published.",
} as const;

/** Instead of figures where there are none. */
export function NothingUsed({
  period: { from, to },
  side,
}: {
  readonly period: Period;
  readonly side: Side;
}) {
  const setSearch = useSetSearch();
  const longest = listPeriods(useNow()).at(-1);
  const isLongest = longest === undefined || (from <= longest.from && to >= longest.to);
  return (
    <EmptyState
      title={`Nothing was used from ${from} to ${to}`}
      {...(side === "consumer" ? { command: "platform run" } : {})}
      action={
        !isLongest && (
          <Button variant="default" onClick={() => setSearch({ from: longest.from, to: longest.to }, "push")}>
            Show the {longest.label.toLowerCase()}
          </Button>
        )
      }
    >
      {WHY[side]}
    </EmptyState>
  );
}
