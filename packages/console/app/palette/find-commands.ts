/** Something that the palette leads to. */
export interface Command {
  readonly id: string;
  readonly label: string;
  /** What it is: "Page", "Application". */
  readonly group: string;
  /** What it is found by besides its label. */
  readonly words?: string;
  /** true: it is offered only to who has typed something. */
  readonly isQuiet?: boolean;
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
  const found = commands.filter(({ label, words: more = "", isQuiet = false }) => {
    const text = `${label} ${more}`.toLowerCase();
    return (wanted !== "" || !isQuiet) && words.every((word) => text.includes(word));
  });
  const begins = ({ label }: Command) => label.toLowerCase().startsWith(wanted);
  return [...found.filter(begins), ...found.filter((command) => !begins(command))].slice(0, MOST);
}

const ID = /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/iu;
/** The form of a code, also of one that a service has chosen itself. */
const CODE = /^[A-Z][A-Z\d]*(?:_[A-Z\d]+)+$/u;

/** What a query is besides words; null: nothing else. */
export function readQuery(query: string): { readonly kind: "id" | "code"; readonly value: string } | null {
  const value = query.trim();
  if (ID.test(value)) return { kind: "id", value: value.toLowerCase() };
  return CODE.test(value) ? { kind: "code", value } : null;
}
