import { Button, Group, NativeSelect, TextInput } from "@mantine/core";
import { useState } from "react";
import { AUDIT_ACTION_NAMES } from "@platform/contract/words.gen";
import { useSetSearch } from "../../ui/dialog.tsx";
import { formatExact, formatTimestamp, parseTimestamp } from "../../util/times.ts";
import { NO_AUDIT_FILTER, toAuditFilter } from "./filter.ts";
import type { AuditSearch } from "./filter.ts";

const DAY_MS = 86_400_000;

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
      <WordField name="actor" label="Who" placeholder="Email address, name or id" value={search.actor} />
      <NativeSelect
        label="What"
        value={AUDIT_ACTION_NAMES.includes(search.action ?? "") ? search.action : ""}
        data={[{ value: "", label: "Everything" }, ...AUDIT_ACTION_NAMES]}
        onChange={({ currentTarget }) => setSearch({ action: currentTarget.value || undefined }, "push")}
      />
      <WordField name="target" label="To what" placeholder="Id of a resource" value={search.target} />
      <PeriodField after={search.after} before={search.before} />
      {isFiltered && (
        <Button variant="subtle" onClick={() => setSearch(NO_AUDIT_FILTER, "push")}>
          Clear filters
        </Button>
      )}
    </Group>
  );
}

interface WordFieldProps {
  /** Parameter of the URL. */
  readonly name: keyof AuditSearch;
  readonly label: string;
  readonly placeholder: string;
  readonly value: string | undefined;
}

/** Sent with Enter, and when the field is left: not with each letter, since each is a search. */
function WordField({ name, label, placeholder, value = "" }: WordFieldProps) {
  const setSearch = useSetSearch();
  const [typed, setTyped] = useState(value);
  const [seen, setSeen] = useState(value);
  // Changed elsewhere: by Back, or by a button.
  if (value !== seen) {
    setSeen(value);
    setTyped(value);
  }
  const send = () => {
    if (typed.trim() !== value) setSearch({ [name]: typed.trim() === "" ? undefined : typed.trim() }, "push");
  };
  return (
    <form
      style={{ flex: "1 1 200px" }}
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      <TextInput
        label={label}
        placeholder={placeholder}
        value={typed}
        maxLength={200}
        autoComplete="off"
        onChange={({ currentTarget }) => setTyped(currentTarget.value)}
        onBlur={send}
      />
    </form>
  );
}

interface PeriodFieldProps {
  readonly after: string | undefined;
  readonly before: string | undefined;
}

function PeriodField({ after, before }: PeriodFieldProps) {
  const setSearch = useSetSearch();
  const any = { value: "any", label: "Any time" };
  return (
    <NativeSelect
      label="When"
      value={after === undefined && before === undefined ? any.value : ""}
      data={[
        any,
        ...(after === undefined && before === undefined
          ? []
          : [{ value: "", label: describePeriod(after, before) }]),
        ...PERIODS.map(({ label }) => ({ value: label, label })),
      ]}
      onChange={({ currentTarget: { value } }) => {
        const days = PERIODS.find(({ label }) => label === value)?.days;
        const from = days === undefined ? undefined : formatTimestamp(Date.now() - days * DAY_MS);
        setSearch({ after: from, before: undefined }, "push");
      }}
    />
  );
}

function describePeriod(after: string | undefined, before: string | undefined): string {
  const words = [after, before].map((at) =>
    at === undefined ? "" : formatExact(parseTimestamp(at), "local"),
  );
  const [from = "", to = ""] = words;
  if (from === "") return `Before ${to}`;
  return to === "" ? `Since ${from}` : `${from} to ${to}`;
}
