import { NativeSelect } from "@mantine/core";
import { formatTimestamp } from "../util/times.ts";

const DAY_MS = 86_400_000;

/** A period up to now. */
interface RecentPeriod {
  readonly label: string;
  readonly days: number;
}

/** For what happens often. */
export const RECENT: readonly RecentPeriod[] = [
  { label: "Last hour", days: 1 / 24 },
  { label: "Last 24 hours", days: 1 },
  { label: "Last 7 days", days: 7 },
  { label: "Last 30 days", days: 30 },
];

interface PeriodFilterProps {
  readonly label: string;
  readonly periods: readonly RecentPeriod[];
  /** The period that the URL has, in words; null: any. */
  readonly chosen: string | null;
  /** `after`: a timestamp as the API has it. */
  readonly choose: (period: { readonly after: string | undefined; readonly before: undefined }) => void;
}

/** Periods up to now; other ones come by links and histograms. */
export function PeriodFilter({ label, periods, chosen, choose }: PeriodFilterProps) {
  const any = { value: "any", label: "Any time" };
  return (
    <NativeSelect
      label={label}
      value={chosen === null ? any.value : ""}
      data={[
        any,
        ...(chosen === null ? [] : [{ value: "", label: chosen }]),
        ...periods.map((period) => ({ value: period.label, label: period.label })),
      ]}
      onChange={({ currentTarget: { value } }) => {
        const days = periods.find((period) => period.label === value)?.days;
        const after = days === undefined ? undefined : formatTimestamp(Date.now() - days * DAY_MS);
        choose({ after, before: undefined });
      }}
    />
  );
}
