import { Time } from "../../ui/time.tsx";

interface ChangedProps {
  readonly of: { readonly changedAt: string; readonly changedBy: string | null };
}

/** When a variable or secret was set last, and by whom. */
export function Changed({ of: { changedAt, changedBy } }: ChangedProps) {
  return (
    <span style={{ overflowWrap: "anywhere" }}>
      <Time at={changedAt} />
      {changedBy === null ? "" : ` by ${changedBy}`}
    </span>
  );
}
