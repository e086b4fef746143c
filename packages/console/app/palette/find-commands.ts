/** Something that the palette leads to. */
export interface Command {
  readonly id: string;
  readonly label: string;
  /** What it is: "Page", "Application". */
  readonly group: string;
  readonly run: () => void;
}

/** So many are shown; who does not find theirs types more. */
const MOST = 12;

/** What has all words of the query in its name, those first that begin with it. */
export function findCommands(commands: readonly Command[], query: string): readonly Command[] {
  const words = query
    .toLowerCase()
    .split(/\s+/u)
    .filter((word) => word !== "");
  const wanted = words.join(" ");
  const found = commands.filter(({ label }) => words.every((word) => label.toLowerCase().includes(word)));
  const begins = ({ label }: Command) => label.toLowerCase().startsWith(wanted);
  return [...found.filter(begins), ...found.filter((command) => !begins(command))].slice(0, MOST);
}
