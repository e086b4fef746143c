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
  /** Its value is shown to nobody. */
  readonly isSecret?: true;
  /** Parses the value. @throws SettingError whose message completes "must be ..." */
  readonly parse: (text: string) => T;
}

/** A setting as a process uses it, for its operators: without what may be a secret. */
export interface SettingInUse {
  /** Name of the flag, without the hyphens. */
  readonly name: string;
  readonly variable: string;
  /** Null: it is not set, it is a secret, or `help` says what is used. */
  readonly value: string | null;
  readonly source: "flag" | "environment" | "default";
  readonly secret: boolean;
  readonly help: string;
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

/** A text that is shown to nobody; null when it is not set or empty. */
export function secretText(env: string, hint: string, help: string): Setting<string | null> {
  return { ...optionalText(env, hint, help), isSecret: true };
}

/** A setting as it was set. */
interface GivenSetting {
  readonly text: string;
  readonly source: "flag" | "environment";
}

/**
 * What was set; undefined: nothing. A variable that is set to nothing (`PLATFORM_HOST=` in a file of variables) is not set.
 */
export function findSetting(
  setting: Setting<unknown>,
  flag: string | boolean | undefined,
  variables: Readonly<Record<string, string | undefined>>,
): GivenSetting | undefined {
  if (typeof flag === "string") return { text: flag, source: "flag" };
  const text = variables[setting.env];
  return text ? { text, source: "environment" } : undefined;
}

/** The value of a setting. @throws SettingError naming it, its value and what is expected */
export function readSetting(
  name: string,
  setting: Setting<unknown>,
  given: GivenSetting | undefined,
): unknown {
  if (given === undefined) return setting.fallback.compute();
  try {
    return setting.parse(given.text);
  } catch (cause) {
    const source = given.source === "flag" ? `--${name}` : setting.env;
    throw new SettingError(
      `${source} is "${given.text}"; it must be ${cause instanceof Error ? cause.message : "valid"}.`,
      { cause },
    );
  }
}

/** What an operator is shown of a setting. @param given as it was set; undefined: it was not */
export function showSetting(
  name: string,
  { env, help, fallback, isSecret }: Setting<unknown>,
  given: GivenSetting | undefined,
): SettingInUse {
  const usual = fallback.compute();
  const standard = typeof usual === "string" || typeof usual === "number" ? String(usual) : fallback.text;
  const value = given === undefined ? standard : hidePasswords(given.text);
  return {
    name,
    variable: env,
    value: isSecret === true || value === "" ? null : value,
    source: given?.source ?? "default",
    secret: isSecret === true,
    help,
  };
}

/** Of URLs only what cannot be a password or token: no user, no query, no fragment. */
function hidePasswords(text: string): string {
  // A password may have a comma, which separates values elsewhere: so the user first, whatever it has before the @.
  return (
    text
      .replaceAll(/(\b[a-z][a-z0-9+.-]*:\/\/)[^\s/]*@/giu, "$1")
      // A query may have one as well, and ends only where another URL begins.
      .replaceAll(/(\b[a-z][a-z0-9+.-]*:\/\/[^\s?#]*)[?#](?:(?!,[a-z][a-z0-9+.-]*:\/\/)\S)*/giu, "$1")
  );
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
