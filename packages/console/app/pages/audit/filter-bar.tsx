import { Button, Group, NativeSelect } from "@mantine/core";
import { SEARCH_LIMITS } from "@platform/contract/search-limits";
import { AUDIT_ACTION_NAMES } from "@platform/contract/words.gen";
import { useSetSearch } from "../../ui/dialog.tsx";
import { PeriodFilter } from "../../ui/period-filter.tsx";
import { WordFilter } from "../../ui/word-filter.tsx";
import { formatExact, parseTimestamp } from "../../util/times.ts";
import { NO_AUDIT_FILTER, toAuditFilter } from "./filter.ts";
import type { AuditSearch } from "./filter.ts";

/** Periods up to now. */
const PERIODS = [
  { label: "Last 24 hours", days: 1 },
  { label: "Last 7 days", days: 7 },
  { label: "Last 30 days", days: 30 },
  { label: "Last year", days: 365 },
] as const;

/** The filters of the log, all of the URL. */
export function FilterBar({ search }: { readonly search: AuditSearch }) {
  const setSearch = useSetSearch();
  const isFiltered = Object.keys(toAuditFilter(search)).length > 0;
  return (
    <Group gap="sm" align="flex-end" mb="md">
      <WordFilter
        label="Who"
        placeholder="Email address, name or id"
        maxLength={SEARCH_LIMITS.audit}
        value={search.actor}
        choose={(actor) => setSearch({ actor }, "push")}
      />
      <NativeSelect
        label="What"
        value={AUDIT_ACTION_NAMES.includes(search.action ?? "") ? search.action : ""}
        data={[{ value: "", label: "Everything" }, ...AUDIT_ACTION_NAMES]}
        onChange={({ currentTarget }) => setSearch({ action: currentTarget.value || undefined }, "push")}
      />
      <WordFilter
        label="To what"
        placeholder="Id of a resource"
        maxLength={SEARCH_LIMITS.audit}
        value={search.target}
        choose={(target) => setSearch({ target }, "push")}
      />
      <PeriodFilter
        label="When"
        periods={PERIODS}
        chosen={describePeriod(search.after, search.before)}
        choose={(period) => setSearch(period, "push")}
      />
      {isFiltered && (
        <Button variant="subtle" onClick={() => setSearch(NO_AUDIT_FILTER, "push")}>
          Clear filters
        </Button>
      )}
    </Group>
  );
}

/** Null: any. */
function describePeriod(after: string | undefined, before: string | undefined): string | null {
  if (after === undefined && before === undefined) return null;
  const words = [after, before].map((at) =>
    at === undefined ? "" : formatExact(parseTimestamp(at), "local"),
  );
  const [from = "", to = ""] = words;
  if (from === "") return `Before ${to}`;
  return to === "" ? `Since ${from}` : `${from} to ${to}`;
}
