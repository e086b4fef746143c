import { TextInput } from "@mantine/core";
import { useState } from "react";

interface WordFilterProps {
  readonly label: string;
  readonly placeholder: string;
  /** What the URL says; undefined: it does not filter. */
  readonly value: string | undefined;
  readonly choose: (value: string | undefined) => void;
  readonly maxLength: number;
  /** In CSS pixels, where there is room for all fields. */
  readonly width?: number;
  readonly role?: "search";
}

/** A filter that is typed. Sent with Enter, and when the field is left: not with each letter, since each is a search. */
export function WordFilter({ value = "", choose, width = 200, role, ...input }: WordFilterProps) {
  const [typed, setTyped] = useState(value);
  const [seen, setSeen] = useState(value);
  // Changed elsewhere: by Back, or by a button.
  if (value !== seen) {
    setSeen(value);
    setTyped(value);
  }
  const send = () => {
    // A link may give a tag with spaces around it.
    if (typed === value) return;
    setTyped(typed.trim());
    if (typed.trim() !== value) choose(typed.trim() || undefined);
  };
  return (
    <form
      role={role}
      style={{ flex: `1 1 ${width}px` }}
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      <TextInput
        {...input}
        value={typed}
        autoComplete="off"
        onChange={({ currentTarget }) => setTyped(currentTarget.value)}
        onBlur={send}
        data-filter
      />
    </form>
  );
}
