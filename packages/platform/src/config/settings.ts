import { isUuid } from "@platform/engine/base/uuid";
import { parseRange } from "@platform/engine/python/sandbox/network/address-range";

/** A setting of the operator: a flag, or an environment variable; the flag takes precedence. */
export interface Setting<T> {
  /** Name of the environment variable. */
  readonly env: string;
  /** What the list of settings shows in place of the value. */
  readonly hint: string;
  readonly help: string;
  readonly fallback: Fallback<T>;
  /** Parses the value. @throws SettingError whose message completes "must be ..." */
  readonly parse: (text: string) => T;
}

/** The value when nothing is set, and how the list of settings shows it; null: `help` says it, or there is none. */
export interface Fallback<T> {
  readonly compute: () => T;
  readonly text: string | null;
}

/** A setting is invalid; the message says which one and what is expected. */
export class SettingError extends Error {}

const NOTHING: Fallback<null> = { compute: () => null, text: null };

function always<T>(value: T, shown = String(value)): Fallback<T> {
  return { compute: () => value, text: shown };
}

/** A text that must not be empty. */
export function text(env: string, hint: string, help: string, fallback: string): Setting<string> {
  return {
    env,
    hint,
    help,
    fallback: always(fallback),
    parse: (value) => {
      if (value.trim() === "") throw new SettingError("given, not empty");
      return value;
    },
  };
}

/** A text; null when it is not set or empty. */
export function optionalText(env: string, hint: string, help: string): Setting<string | null> {
  return { env, hint, help, fallback: NOTHING, parse: (value) => (value === "" ? null : value) };
}

/** The URL at which clients reach this program, such as https://api.example.org; without final slashes, null when not set. */
export function optionalOrigin(env: string, help: string): Setting<string | null> {
  return {
    env,
    hint: "URL",
    help,
    fallback: NOTHING,
    parse: (value) => {
      if (!/^https?:\/\//i.test(value) || !URL.canParse(value))
        throw new SettingError("a URL that begins with http:// or https://");
      return value.replace(/\/+$/, "");
    },
  };
}

/** A number in a range, which includes both ends. */
export function number(
  env: string,
  help: string,
  range: { readonly min: number; readonly max: number; readonly isWhole: boolean },
  fallback: number | Fallback<number>,
): Setting<number> {
  const wanted = `a ${range.isWhole ? "whole " : ""}number from ${range.min} to ${range.max}`;
  return {
    env,
    hint: "N",
    help,
    fallback: typeof fallback === "number" ? always(fallback) : fallback,
    parse: (value) => {
      const parsed = value.trim() === "" ? Number.NaN : Number(value);
      if (!(parsed >= range.min && parsed <= range.max) || (range.isWhole && !Number.isInteger(parsed)))
        throw new SettingError(wanted);
      return parsed;
    },
  };
}

/** A number as of `number`; null when it is not set. `shown`: what is used then. */
export function optionalNumber(
  env: string,
  help: string,
  range: Parameters<typeof number>[2],
  shown: string,
): Setting<number | null> {
  return { ...number(env, help, range, 0), fallback: { compute: () => null, text: shown } };
}

/** One of the values. */
export function choice<const T extends string>(
  env: string,
  help: string,
  values: readonly T[],
  fallback: NoInfer<T>,
): Setting<T> {
  return {
    env,
    hint: values.join("|"),
    help,
    fallback: always(fallback),
    parse: (value) => {
      const found = values.find((candidate) => candidate === value);
      if (found === undefined) throw new SettingError(`one of ${values.join(", ")}`);
      return found;
    },
  };
}

/** Several of the values, separated by commas. */
export function choices<const T extends string>(
  env: string,
  help: string,
  values: readonly T[],
  fallback: readonly T[],
): Setting<readonly T[]> {
  const one = choice(env, help, values, values[0] as T);
  return {
    env,
    hint: values.join("|"),
    help,
    fallback: always(fallback, fallback.join(",")),
    parse: (value) => value.split(",").map((item) => one.parse(item.trim())),
  };
}

/** Ids such as those of organisations, separated by commas; none when it is not set. */
export function ids(env: string, help: string): Setting<readonly string[]> {
  return {
    env,
    hint: "IDS",
    help,
    fallback: { compute: () => [], text: null },
    parse: (value) => {
      const given = value.split(",").map((id) => id.trim().toLowerCase());
      if (!given.every(isUuid)) throw new SettingError("ids (UUIDs) separated by commas");
      return given;
    },
  };
}

/** IPv4 addresses and ranges, separated by commas; none when it is not set. */
export function addressRanges(env: string, help: string): Setting<readonly string[]> {
  return {
    env,
    hint: "RANGES",
    help,
    fallback: { compute: () => [], text: null },
    parse: (value) => {
      const ranges = value.split(",").map((range) => range.trim());
      if (ranges.some((range) => parseRange(range) === null))
        throw new SettingError("IPv4 addresses or ranges separated by commas, such as 10.1.0.0/16,10.2.3.4");
      return ranges;
    },
  };
}
