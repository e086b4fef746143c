import { Button, Chip, Group, NativeSelect, Pill, TextInput } from "@mantine/core";
import { useState } from "react";
import { EXECUTION_PRESETS } from "../../execution/presets.ts";
import { EXECUTION_STATES } from "../../execution/states.ts";
import { isFiltered, NO_FILTER } from "../../execution/filter.ts";
import type { ExecutionsSearch } from "../../execution/filter.ts";
import { q, useFetched } from "../../api/queries.ts";
import { useSetSearch } from "../../ui/dialog.tsx";
import { formatDuration, formatExact, formatTimestamp, parseTimestamp } from "../../util/times.ts";

const DAY_MS = 86_400_000;

/** Periods up to now. */
const PERIODS = [
  { label: "Last hour", days: 1 / 24 },
  { label: "Last 24 hours", days: 1 },
  { label: "Last 7 days", days: 7 },
  { label: "Last 30 days", days: 30 },
] as const;

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
        <SearchField value={search.q ?? ""} />
        <ServiceField value={search.service} />
        <ApplicationField value={search.application} />
        <PeriodField isSet={search.after !== undefined || search.before !== undefined} />
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

/** A period up to now; others are chosen in the histogram. */
function PeriodField({ isSet }: { readonly isSet: boolean }) {
  const setSearch = useSetSearch();
  const any = { value: "any", label: "Any time" };
  return (
    <NativeSelect
      label="Created"
      value={isSet ? "" : any.value}
      data={[
        ...(isSet ? [{ value: "", label: "As below" }] : []),
        any,
        ...PERIODS.map(({ label }) => ({ value: label, label })),
      ]}
      onChange={({ currentTarget: { value } }) => {
        const days = PERIODS.find(({ label }) => label === value)?.days;
        const after = days === undefined ? undefined : formatTimestamp(Date.now() - days * DAY_MS);
        setSearch({ after, before: undefined }, "push");
      }}
    />
  );
}

/** Sent with Enter, and when the field is left: not with each letter, since each is a search. */
function SearchField({ value }: { readonly value: string }) {
  const setSearch = useSetSearch();
  const [typed, setTyped] = useState(value);
  const [seen, setSeen] = useState(value);
  // Changed elsewhere: by Back, or by a button.
  if (value !== seen) {
    setSeen(value);
    setTyped(value);
  }
  const send = () => {
    if (typed.trim() !== value) setSearch({ q: typed.trim() === "" ? undefined : typed.trim() }, "push");
  };
  return (
    <form
      role="search"
      style={{ flex: "1 1 240px" }}
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      <TextInput
        label="Find"
        placeholder="Id, service, application or code"
        value={typed}
        maxLength={100}
        autoComplete="off"
        onChange={({ currentTarget }) => setTyped(currentTarget.value)}
        onBlur={send}
      />
    </form>
  );
}

function ServiceField({ value }: { readonly value: string | undefined }) {
  const setSearch = useSetSearch();
  const { data } = useFetched(q("listServices", { query: { limit: 100 } }));
  const known = (data?.items ?? []).map(({ key, name }) => ({ value: key, label: name }));
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
  const { data } = useFetched(q("listApplications", { query: { limit: 100 } }));
  const known = (data?.items ?? []).map(({ id, name }) => ({ value: id, label: name }));
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

/** A filter of the URL that is not among the choices is one as well: of another organisation, or beyond the first hundred. */
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
        <Pill
          key={name}
          size="md"
          withRemoveButton
          onRemove={() => setSearch({ [name]: undefined }, "push")}
          removeButtonProps={{ "aria-label": `Do not filter by ${words}`, "aria-hidden": false, tabIndex: 0 }}
        >
          {words}
        </Pill>
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
