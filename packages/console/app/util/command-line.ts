import { quoteShell } from "@platform/contract/snippets/texts";

/** A terminal that the command is pasted into would take a control for a key: of a link that somebody else has made, for what they like. */
const CONTROL = /\p{C}/gu;

type Given = string | number | true | readonly string[] | undefined;

/**
 * A command for a POSIX shell. Options by their names; undefined is left out, a list becomes words between commas, and true is a
 * flag; of a text that is empty without what nobody sees nothing is said. `words` are what it is called with besides.
 */
export function toCommandLine(
  command: string,
  options: Readonly<Record<string, Given>>,
  words?: string,
): string {
  const said = Object.entries(options).flatMap(([name, given]) => {
    if (given === true) return [`--${name}`];
    const value = clean(String(given ?? ""));
    return value === "" ? [] : [`--${name}=${quoteShell(value)}`];
  });
  return [command, ...said, ...(words === undefined ? [] : toWords(clean(words)))].join(" ");
}

const clean = (text: string) => text.replace(CONTROL, "");

/** What begins as an option does is said to be none. */
const toWords = (words: string) =>
  words === "" ? [] : [...(words.startsWith("-") ? ["--"] : []), quoteShell(words)];
