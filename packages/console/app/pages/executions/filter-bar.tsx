import { Button, Chip, Group, NativeSelect } from "@mantine/core";
import { SEARCH_LIMITS } from "@platform/contract/search-limits";
import { EXECUTION_PRESETS } from "../../execution/presets.ts";
import { EXECUTION_STATES } from "../../execution/states.ts";
import { isFiltered, NO_FILTER } from "../../execution/filter.ts";
import type { ExecutionsSearch } from "../../execution/filter.ts";
import { useChoices } from "../../api/queries.ts";
import { useSetSearch } from "../../ui/dialog.tsx";
import { FilterPill } from "../../ui/filter-pill.tsx";
import { PeriodFilter, RECENT } from "../../ui/period-filter.tsx";
import { WordFilter } from "../../ui/word-filter.tsx";
import { formatDuration, formatExact, parseTimestamp } from "../../util/times.ts";

/** The filters of the list, all of the URL. */
export function FilterBar({ search }: { readonly search: ExecutionsSearch }) {
  const setSearch = useSetSearch();
  return (
    <div style={{ marginBottom: 20 }}>
      <Group gap="xs" mb="xs">
        {EXECUTION_PRESETS.map(({ label, set }) => (
          <Button
            key={label}
            size="compact-sm"
            variant="default"
            onClick={() => setSearch({ ...NO_FILTER, kind: search.kind, ...set() }, "push")}
          >
            {label}
          </Button>
        ))}
      </Group>
      <Group gap="sm" align="flex-end">
        <WordFilter
          role="search"
          label="Find"
          placeholder="Id, service, application or code"
          maxLength={SEARCH_LIMITS.execution}
          width={240}
          value={search.q}
          choose={(words) => setSearch({ q: words }, "push")}
        />
        <ServiceField value={search.service} />
        <ApplicationField value={search.application} />
        <PeriodFilter
          label="Created"
          periods={RECENT}
          chosen={search.after === undefined && search.before === undefined ? null : "As below"}
          choose={(period) => setSearch(period, "push")}
        />
      </Group>
      <Chip.Group
        multiple
        value={[...(search.status ?? [])]}
        onChange={(status) => setSearch({ status: status.length === 0 ? undefined : status }, "push")}
      >
        <Group gap={6} mt="sm" role="group" aria-label="States">
          {EXECUTION_STATES.map(({ status, word }) => (
            <Chip key={status} value={status} size="xs" variant="outline">
              {word}
            </Chip>
          ))}
        </Group>
      </Chip.Group>
      <Chosen search={search} />
    </div>
  );
}

function ServiceField({ value }: { readonly value: string | undefined }) {
  const setSearch = useSetSearch();
  const { items = [] } = useChoices("listServices");
  const known = items.map(({ key, name }) => ({ value: key, label: name }));
  return (
    <NativeSelect
      label="Service"
      value={value ?? ""}
      data={withCurrent(known, value, "All services", "Another service")}
      onChange={({ currentTarget }) => setSearch({ service: currentTarget.value || undefined }, "push")}
    />
  );
}

function ApplicationField({ value }: { readonly value: string | undefined }) {
  const setSearch = useSetSearch();
  const { items = [] } = useChoices("listApplications");
  const known = items.map(({ id, name }) => ({ value: id, label: name }));
  return (
    <NativeSelect
      label="Application"
      value={value ?? ""}
      data={withCurrent(known, value, "All applications", "Another application")}
      onChange={({ currentTarget }) => setSearch({ application: currentTarget.value || undefined }, "push")}
    />
  );
}

interface Choice {
  readonly value: string;
  readonly label: string;
}

/** A filter of the URL that is not among the choices is one as well: of another organisation, or not read yet. */
function withCurrent(
  known: readonly Choice[],
  value: string | undefined,
  all: string,
  other: string,
): Choice[] {
  const isKnown = value === undefined || known.some((choice) => choice.value === value);
  return [{ value: "", label: all }, ...known, ...(isKnown ? [] : [{ value, label: other }])];
}

/** What no field shows, to be taken out one by one. */
function Chosen({ search }: { readonly search: ExecutionsSearch }) {
  const setSearch = useSetSearch();
  const chosen = [
    search.after === undefined
      ? null
      : { name: "after", words: `from ${formatExact(parseTimestamp(search.after), "local")}` },
    search.before === undefined
      ? null
      : { name: "before", words: `until ${formatExact(parseTimestamp(search.before), "local")}` },
    search.version === undefined ? null : { name: "version", words: `version ${search.version}` },
    search.code === undefined ? null : { name: "code", words: `code ${search.code}` },
    search.min === undefined
      ? null
      : { name: "min", words: `ran for ${formatDuration(search.min)} or longer` },
  ].filter((one) => one !== null);
  if (!isFiltered(search)) return null;
  return (
    <Group gap={6} mt="sm">
      {chosen.map(({ name, words }) => (
        <FilterPill key={name} words={words} onRemove={() => setSearch({ [name]: undefined }, "push")} />
      ))}
      <Button
        size="compact-sm"
        variant="subtle"
        onClick={() => setSearch({ ...NO_FILTER, kind: search.kind }, "push")}
      >
        Clear filters
      </Button>
    </Group>
  );
}
