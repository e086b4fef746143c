import { TextInput } from "@mantine/core";
import type { TextInputProps } from "@mantine/core";
import { useLeading } from "../util/use-leading.ts";

interface SearchFieldProps extends Pick<TextInputProps, "placeholder" | "maxLength" | "miw" | "maw" | "mb"> {
  readonly label: string;
  /** What the URL says; undefined: nothing is searched for. */
  readonly words: string | undefined;
  /** Takes what was typed to the URL, in place of what is there. */
  readonly onSearch: (words: string | undefined) => void;
}

/** What a list is searched for. */
export function SearchField({ label, words, onSearch, ...input }: SearchFieldProps) {
  const [shown, enter] = useLeading(words ?? "");
  return (
    <TextInput
      aria-label={label}
      type="search"
      value={shown}
      onChange={({ currentTarget: { value } }) => {
        enter(value);
        onSearch(value.trim() || undefined);
      }}
      data-filter
      {...input}
    />
  );
}
