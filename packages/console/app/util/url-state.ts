import { formatTimestamp, parseTimestamp } from "./times.ts";

/*
 * The URL is the state: filters, tabs, selections. A parser reads one parameter; what is unknown or broken is dropped, never an error.
 * A schema library would do the same, and would be in the entry chunk.
 */

/** A parameter as it stands in the URL; several of one name are a list. */
type Raw = string | readonly string[] | undefined;

/** Reads one parameter; undefined: it is not there, or is not understood. */
type Parser<T> = (raw: Raw) => T | undefined;

const first = (raw: Raw): string | undefined => (typeof raw === "object" ? raw[0] : raw);

/** Any text but an empty one, without spaces around it; what is longer is cut. */
export function text(most = 500): Parser<string> {
  const parse = exact(most);
  return (raw) => parse(first(raw)?.trim());
}

/** A text with its spaces, as a tag. The platform takes none with U+0000. */
export function exact(most: number): Parser<string> {
  return (raw) => {
    const value = first(raw);
    if (value === undefined || value === "" || value.includes("\0")) return undefined;
    // By code points, as the platform counts: a character of two halves is not cut in the middle.
    return value.length <= most ? value : Array.from(value).slice(0, most).join("");
  };
}

/** One of the given words. */
export function oneOf<const T extends string>(...words: readonly T[]): Parser<T> {
  return (raw) => words.find((word) => word === first(raw));
}

/** Several of the given words, in their order. */
export function many<const T extends string>(...words: readonly T[]): Parser<readonly T[]> {
  return (raw) => {
    const given = typeof raw === "string" ? [raw] : (raw ?? []);
    const found = words.filter((word) => given.includes(word));
    return found.length === 0 ? undefined : found;
  };
}

/** A whole number that is not negative. */
export function whole(most = Number.MAX_SAFE_INTEGER): Parser<number> {
  return (raw) => {
    const value = first(raw);
    if (value === undefined || !/^[0-9]{1,15}$/u.test(value)) return undefined;
    return Math.min(Number(value), most);
  };
}

/** A path of the console with its parameters, where each letter may be nine characters. No server takes a longer one. */
export const address = (): Parser<string> => text(16_384);

/** A time in UTC as the platform writes it, `YYYY-MM-DD HH:MM:SS`, one that there is and no year before the first. */
export function time(): Parser<string> {
  return (raw) => {
    const value = first(raw);
    if (value === undefined || !/^(?!0000)\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/u.test(value)) return undefined;
    const at = parseTimestamp(value);
    // The parser goes on into the next month, and takes 24:00:00; the platform refuses both.
    return Number.isNaN(at) || formatTimestamp(at) !== value ? undefined : value;
  };
}

/** A day of the calendar, `YYYY-MM-DD`. */
export function day(): Parser<string> {
  return (raw) => {
    const value = first(raw);
    if (value === undefined || !/^(?!0000)\d{4}-\d\d-\d\d$/u.test(value)) return undefined;
    const at = Date.parse(value);
    // Where a month is shorter, the parser goes on into the next one.
    return Number.isNaN(at) || new Date(at).toISOString().slice(0, 10) !== value ? undefined : value;
  };
}

type Parsers = Readonly<Record<string, Parser<unknown>>>;

type Parsed<P extends Parsers> = {
  readonly [K in keyof P]?: Exclude<ReturnType<P[K]>, undefined>;
};

/** What a link may give: undefined takes a parameter out. */
type Given<P extends Parsers> = {
  readonly [K in keyof P]?: ReturnType<P[K]> | undefined;
};

/** For `validateSearch` of a route: `search({ tab: oneOf("keys", "token"), q: text() })`. */
export function search<P extends Parsers>(parsers: P) {
  return (raw: Given<P>): Parsed<P> => {
    const found = Object.entries(parsers).flatMap(([name, parse]) => {
      const value = parse(toRaw(raw[name]));
      return value === undefined ? [] : [[name, value]];
    });
    // The router goes on with what is in the URL and not here, and pages ask the platform for it: undefined takes it out.
    const taken = Object.keys(raw).map((name) => [name, undefined]);
    return Object.fromEntries([...taken, ...found]) as Parsed<P>;
  };
}

/** A link gives parameters as they were parsed; a URL gives them as text. */
function toRaw(value: unknown): Raw {
  if (typeof value === "number" || typeof value === "string") return String(value);
  return Array.isArray(value) ? value.map(String) : undefined;
}

/** `?a=1&b=x&b=y` as `{a: "1", b: ["x", "y"]}`: plain text, where TanStack Router would write JSON. */
export function parseSearch(query: string): Record<string, string | string[]> {
  const found: Record<string, string | string[]> = Object.create(null) as Record<string, string | string[]>;
  const parameters = new URLSearchParams(query);
  for (const name of new Set(parameters.keys())) {
    const values = parameters.getAll(name);
    found[name] = values.length === 1 ? (values[0] ?? "") : values;
  }
  return found;
}

/** The other way round; what is undefined is left out. */
export function stringifySearch(parameters: Readonly<Record<string, unknown>>): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    const raw = toRaw(value);
    for (const one of typeof raw === "string" ? [raw] : (raw ?? [])) query.append(name, one);
  }
  const written = query.toString();
  return written === "" ? "" : `?${written}`;
}
