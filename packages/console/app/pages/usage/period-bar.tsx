import { Button, Group, Select, TextInput } from "@mantine/core";
import { useState } from "react";
import { useSetSearch } from "../../ui/dialog.tsx";
import { useNow } from "../../ui/time.tsx";
import { DIMENSION_WORDS } from "../../usage/query.ts";
import type { Dimension } from "../../usage/query.ts";
import { listPeriods } from "../../util/days.ts";
import type { Period } from "../../util/days.ts";

const DIMENSIONS = Object.entries(DIMENSION_WORDS).map(([value, label]) => ({ value, label }));

/** Which days, and what is added up; of the URL. */
export function PeriodBar({ period, by }: { readonly period: Period; readonly by: Dimension }) {
  const setSearch = useSetSearch();
  return (
    <>
      <Group gap="xs" mb="sm">
        {listPeriods(useNow()).map(({ label, from, to }) => {
          const isChosen = from === period.from && to === period.to;
          return (
            <Button
              key={label}
              size="xs"
              variant={isChosen ? "filled" : "default"}
              aria-pressed={isChosen}
              onClick={() => setSearch({ from, to }, "push")}
            >
              {label}
            </Button>
          );
        })}
      </Group>
      <Group mb="lg" align="flex-end">
        <DayField label="First day" value={period.from} choose={(from) => setSearch({ from })} />
        <DayField label="Last day" value={period.to} choose={(to) => setSearch({ to })} />
        <Select
          label="Added up by"
          data={DIMENSIONS}
          value={by}
          allowDeselect={false}
          onChange={(value) => setSearch({ by: value === "day" ? undefined : value }, "push")}
        />
      </Group>
    </>
  );
}

interface DayFieldProps {
  readonly label: string;
  readonly value: string;
  readonly choose: (day: string) => void;
}

/** While a year is typed, the browser takes each of its digits for one: 0002, 0020, 0202. */
const EARLIEST = "2000-01-01";

/** A day; what is typed stays as it is until the field is left. */
function DayField({ label, value, choose }: DayFieldProps) {
  const [typed, setTyped] = useState<string | null>(null);
  return (
    <TextInput
      type="date"
      label={label}
      value={typed ?? value}
      onChange={(event) => {
        const day = event.currentTarget.value;
        setTyped(day);
        if (day >= EARLIEST) choose(day);
      }}
      onBlur={() => setTyped(null)}
    />
  );
}
