import { Button, Group, NativeSelect, Pill, TextInput } from "@mantine/core";
import { useState } from "react";
import { q, useFetched } from "../../api/queries.ts";
import { isFiltered, NO_FILTER } from "../../quantum/filter.ts";
import type { QuantumJobsSearch } from "../../quantum/filter.ts";
import { JOB_STATES } from "../../quantum/states.tsx";
import { useSetSearch } from "../../ui/dialog.tsx";
import { formatExact, formatTimestamp, parseTimestamp } from "../../util/times.ts";

const DAY_MS = 86_400_000;

/** Periods up to now. */
const PERIODS = [
  { label: "Last hour", days: 1 / 24 },
  { label: "Last 24 hours", days: 1 },
  { label: "Last 7 days", days: 7 },
  { label: "Last 30 days", days: 30 },
] as const;

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
        <WordField label="Name" what="A part of it" value={search.name} choose={(name) => choose({ name })} />
        <WordField label="Tag" what="The whole of it" value={search.tag} choose={(tag) => choose({ tag })} />
        <BackendField value={search.backend} choose={(backend) => choose({ backend })} />
        <NativeSelect
          label="State"
          value={search.status ?? ""}
          data={[{ value: "", label: "All states" }, ...JOB_STATES]}
          onChange={({ currentTarget: { value } }) =>
            choose({ status: JOB_STATES.find((state) => state.value === value)?.value })
          }
        />
        <PeriodField search={search} choose={choose} />
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

/** Sent with Enter, and when the field is left: not with each letter, since each is a search. */
function WordField({
  label,
  what,
  value = "",
  choose,
}: FieldProps & { readonly label: string; readonly what: string }) {
  const [typed, setTyped] = useState(value);
  const [seen, setSeen] = useState(value);
  // Changed elsewhere: by Back, or by a button.
  if (value !== seen) {
    setSeen(value);
    setTyped(value);
  }
  const send = () => {
    if (typed.trim() !== value) choose(typed.trim() || undefined);
  };
  return (
    <form
      style={{ flex: "1 1 150px" }}
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      <TextInput
        label={label}
        placeholder={what}
        value={typed}
        maxLength={200}
        autoComplete="off"
        onChange={({ currentTarget }) => setTyped(currentTarget.value)}
        onBlur={send}
      />
    </form>
  );
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
        ...(isKnown ? [] : [{ value, label: value.slice(0, 63) }]),
      ]}
      onChange={({ currentTarget }) => choose(currentTarget.value || undefined)}
    />
  );
}

interface PeriodProps {
  readonly search: QuantumJobsSearch;
  readonly choose: Choose;
}

/** A period up to now; a link may name another one. */
function PeriodField({ search: { after, before }, choose }: PeriodProps) {
  const isSet = after !== undefined || before !== undefined;
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
        choose({
          after: days === undefined ? undefined : formatTimestamp(Date.now() - days * DAY_MS),
          before: undefined,
        });
      }}
    />
  );
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
        return (
          <Pill
            key={name}
            size="md"
            withRemoveButton
            onRemove={() => choose({ [name]: undefined })}
            removeButtonProps={{
              "aria-label": `Do not filter by ${words}`,
              "aria-hidden": false,
              tabIndex: 0,
            }}
          >
            {words}
          </Pill>
        );
      })}
    </Group>
  );
}
