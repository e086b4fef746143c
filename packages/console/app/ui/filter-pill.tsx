import { Pill } from "@mantine/core";

interface FilterPillProps {
  readonly words: string;
  readonly onRemove: () => void;
}

/** A filter that no field shows, to be taken out. */
export function FilterPill({ words, onRemove }: FilterPillProps) {
  return (
    <Pill
      size="md"
      withRemoveButton
      onRemove={onRemove}
      removeButtonProps={{ "aria-label": `Do not filter by ${words}`, "aria-hidden": false, tabIndex: 0 }}
    >
      {words}
    </Pill>
  );
}
