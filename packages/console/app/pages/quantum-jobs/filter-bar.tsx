import { Button, Group, NativeSelect } from "@mantine/core";
import { SEARCH_LIMITS } from "@platform/contract/search-limits";
import { q, useFetched } from "../../api/queries.ts";
import { isFiltered, NO_FILTER } from "../../quantum/filter.ts";
import type { QuantumJobsSearch } from "../../quantum/filter.ts";
import { JOB_STATES } from "../../quantum/states.tsx";
import { useSetSearch } from "../../ui/dialog.tsx";
import { FilterPill } from "../../ui/filter-pill.tsx";
import { PeriodFilter, RECENT } from "../../ui/period-filter.tsx";
import { WordFilter } from "../../ui/word-filter.tsx";
import { formatExact, parseTimestamp } from "../../util/times.ts";

/** Filters by what is given; undefined takes one out. */
type Choose = (change: {
  readonly [K in keyof QuantumJobsSearch]?: QuantumJobsSearch[K] | undefined;
}) => void;

/** The filters of the list, all of the URL. Each begins at the first page. */
export function FilterBar({ search }: { readonly search: QuantumJobsSearch }) {
  const setSearch = useSetSearch();
  const choose: Choose = (change) => setSearch({ ...change, page: undefined }, "push");
  return (
    <div style={{ marginBottom: 20 }}>
      <Group gap="sm" align="flex-end">
        <WordFilter
          label="Name"
          placeholder="A part of it"
          maxLength={SEARCH_LIMITS.quantumJob}
          width={150}
          value={search.name}
          choose={(name) => choose({ name })}
        />
        <WordFilter
          label="Tag"
          placeholder="The whole of it"
          maxLength={SEARCH_LIMITS.quantumJobTag}
          width={150}
          value={search.tag}
          choose={(tag) => choose({ tag })}
        />
        <BackendField value={search.backend} choose={(backend) => choose({ backend })} />
        <NativeSelect
          label="State"
          value={search.status ?? ""}
          data={[{ value: "", label: "All states" }, ...JOB_STATES]}
          onChange={({ currentTarget: { value } }) =>
            choose({ status: JOB_STATES.find((state) => state.value === value)?.value })
          }
        />
        <PeriodFilter
          label="Created"
          periods={RECENT}
          chosen={search.after === undefined && search.before === undefined ? null : "As below"}
          choose={choose}
        />
        {isFiltered(search) && (
          <Button variant="subtle" onClick={() => setSearch(NO_FILTER, "push")}>
            Clear filters
          </Button>
        )}
      </Group>
      <Chosen search={search} choose={choose} />
    </div>
  );
}

interface FieldProps {
  readonly value: string | undefined;
  readonly choose: (value: string | undefined) => void;
}

/** A backend that is gone may have jobs still. */
function BackendField({ value, choose }: FieldProps) {
  const { data } = useFetched(q("listBackends", {}));
  const known = (data ?? []).map(({ id }) => ({ value: id, label: id }));
  const isKnown = value === undefined || known.some((backend) => backend.value === value);
  return (
    <NativeSelect
      label="Backend"
      value={value ?? ""}
      data={[
        { value: "", label: "All backends" },
        ...known,
        ...(isKnown ? [] : [{ value, label: value.slice(0, SEARCH_LIMITS.backend) }]),
      ]}
      onChange={({ currentTarget }) => choose(currentTarget.value || undefined)}
    />
  );
}

interface PeriodProps {
  readonly search: QuantumJobsSearch;
  readonly choose: Choose;
}

/** What no field shows, to be taken out one by one. */
function Chosen({ search: { after, before }, choose }: PeriodProps) {
  const chosen = [
    { name: "after", at: after, word: "from" },
    { name: "before", at: before, word: "until" },
  ] as const;
  return (
    <Group gap={6} mt={after === undefined && before === undefined ? 0 : "sm"}>
      {chosen.map(({ name, at, word }) => {
        if (at === undefined) return null;
        const words = `${word} ${formatExact(parseTimestamp(at), "local")}`;
        return <FilterPill key={name} words={words} onRemove={() => choose({ [name]: undefined })} />;
      })}
    </Group>
  );
}
