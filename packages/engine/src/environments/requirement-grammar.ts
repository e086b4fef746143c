import { posix } from "node:path";
import { readMarker } from "./requirement-marker.ts";
import { createScanner, RequirementError } from "./requirement-scanner.ts";
import type { Scanner } from "./requirement-scanner.ts";

/*
 * The lines that are supported, and their canonical form. pip and uv are given the canonical form only, so each form must mean the
 * same to both (requirement-parsers.test.ts). Everything is printable ASCII without quotes, `$`, `\` and `{`, except a marker's double quotes.
 */

/** One parsed line. `text` is its canonical form for pip and uv; paths in it are still relative to the project. */
export type RequirementLine =
  | {
      readonly kind: "named";
      readonly text: string;
      readonly hasExtras: boolean;
      readonly hashes: readonly string[];
      /** `==` one version, and nothing else. */
      readonly isPinned: boolean;
    }
  | { readonly kind: "url"; readonly text: string; readonly hashes: readonly string[] }
  | {
      readonly kind: "path";
      readonly path: string;
      readonly suffix: string;
      readonly hashes: readonly string[];
    }
  | { readonly kind: "option"; readonly text: string }
  | { readonly kind: "find-links"; readonly path: string }
  | { readonly kind: "require-hashes" }
  | { readonly kind: "file"; readonly section: Section; readonly path: string };

/** What the lines of a file are for: to be installed, or only to narrow versions. */
export type Section = "requirements" | "constraints";

/** A line with content of its own, as opposed to one that names another file. */
export type ContentLine = Exclude<RequirementLine, { readonly kind: "file" }>;

const NAME = /[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?/y;
const EXTRAS = /\[ *[A-Za-z0-9][A-Za-z0-9._-]*(?: *, *[A-Za-z0-9][A-Za-z0-9._-]*)* *\]/y;
const OPERATOR = /~=|==(?!=)|!=|<=|>=|<|>/y;
const VERSION = /v?[0-9](?:[A-Za-z0-9!+_-]|\.(?!\*))*(?:\.\*)?/y;
/** No blank, quote, bracket, comma, `;`, `\`, `$`, `{`: each of them has a meaning for pip or uv. */
const URL_TEXT = /(?:git\+)?https?:\/\/[A-Za-z0-9._~:@!&*+=%-]+(?:[/?#][A-Za-z0-9._~:/?@!&*+=%#-]*)?/y;
/** A path has a slash, a leading dot or `file:`; a bare `x.whl` is a path as well. */
const PATH_LIKE = /^(?:\.|file:|[A-Za-z0-9._+-]*\/)/;
const PATH_TEXT = /[A-Za-z0-9._+/-]+/y;
const HASH = /--hash(?:=| )(?:sha256:[0-9a-f]{64}|sha384:[0-9a-f]{96}|sha512:[0-9a-f]{128})(?![^ ])/y;
/** Endings by which pip recognises a local file. */
const ARCHIVE = /\.(?:whl|zip|tar|tgz|tbz|txz|tlz|tar\.(?:gz|bz2|xz|lz|lzma))$/i;

/** Whether a line can only be installed by building a source, or asks for it. The names of wheels end in `.whl`. */
export function isSource(line: ContentLine): boolean {
  switch (line.kind) {
    case "path":
      return !line.path.endsWith(".whl");
    case "url":
      return !/^(?:[^ ]+ @ )?https?:[^ ?#]*\.whl(?:[ ?#]|$)/.test(line.text);
    case "option":
      return line.text.startsWith("--no-binary ") && line.text !== "--no-binary :none:";
    case "named":
    case "find-links":
    case "require-hashes":
      return false;
    default:
      return line satisfies never;
  }
}

/** @throws RequirementError */
export function parseRequirementLine(text: string): RequirementLine {
  return text.startsWith("-") ? parseOption(text) : parseRequirement(text);
}

/** @throws RequirementError */
export function parseRequirement(text: string): ContentLine {
  const scanner = createScanner(text);
  const url = scanner.take(URL_TEXT);
  if (url !== null) return finishUrl(scanner, "", url);
  if (PATH_LIKE.test(text)) return parsePath(text);
  const name = scanner.take(NAME);
  if (name === null || (ARCHIVE.test(name) && isWordEnd(scanner))) return parsePath(text);
  const extras = readExtras(scanner);
  scanner.skipBlanks();
  if (scanner.take(/@/y) !== null) return parseDirect(scanner, name, extras);
  return parseNamed(scanner, name, extras);
}

function parseNamed(scanner: Scanner, name: string, extras: string): ContentLine {
  // Poetry writes dependencies as `numpy (>=2,<3)`. The parentheses have no meaning and are dropped.
  const isInParentheses = scanner.take(/\((?= *[~=!<>])/y) !== null;
  const specifiers = readSpecifiers(scanner);
  if (isInParentheses && scanner.take(/\)/y) === null)
    throw new RequirementError("the parenthesis around its versions is not closed");
  const requirement = `${name}${extras}${specifiers.join(",")}`;
  if (ARCHIVE.test(requirement)) throw new RequirementError("its version looks like the name of a file");
  const { text, hashes } = finish(scanner, requirement);
  const [only] = specifiers;
  const isPinned = specifiers.length === 1 && only?.startsWith("==") === true && !only.endsWith("*");
  return { kind: "named", text, hasExtras: extras !== "", hashes, isPinned };
}

function parseDirect(scanner: Scanner, name: string, extras: string): ContentLine {
  scanner.skipBlanks();
  const url = scanner.take(URL_TEXT);
  if (url !== null) return finishUrl(scanner, `${name}${extras} @ `, url);
  if (scanner.take(/file:/y) === null)
    throw new RequirementError("after '@' it must name an https, http, git+https or file: address");
  // `pip freeze` writes packages that conda or a local build installed in this form.
  if (scanner.rest().startsWith("/"))
    throw new RequirementError(
      `that file is outside of the project, on the machine where the list was made; name a version instead, as in '${name}==1.0'`,
    );
  return readPath(scanner, extras);
}

function parsePath(text: string): ContentLine {
  const scanner = createScanner(text);
  scanner.take(/file:/y);
  return readPath(scanner, "");
}

function readPath(scanner: Scanner, given: string): ContentLine {
  const path = scanner.take(PATH_TEXT);
  if (path === null)
    throw new RequirementError("it is no requirement that is understood; write it as in 'numpy>=2,<3'");
  const extras = given === "" ? readExtras(scanner) : given;
  const { text: suffix, hashes } = finish(scanner, extras);
  return { kind: "path", path: normalizePath(path), suffix, hashes };
}

function finishUrl(scanner: Scanner, before: string, url: string): ContentLine {
  if (scanner.rest().startsWith(";"))
    throw new RequirementError("a space must stand between its address and the ';'");
  const { text, hashes } = finish(scanner, `${before}${url}`);
  return { kind: "url", text, hashes };
}

function readExtras(scanner: Scanner): string {
  scanner.take(/ +(?=\[)/y);
  return scanner.take(EXTRAS)?.replaceAll(" ", "") ?? "";
}

function isWordEnd(scanner: Scanner): boolean {
  return /^(?:$|[ ;[])/.test(scanner.rest());
}

function readSpecifiers(scanner: Scanner): readonly string[] {
  const specifiers: string[] = [];
  do {
    scanner.skipBlanks();
    const operator = scanner.take(OPERATOR);
    if (operator === null && specifiers.length === 0) return [];
    scanner.skipBlanks();
    const version = operator === null ? null : scanner.take(VERSION);
    const isWild = version?.endsWith("*") === true;
    if (version === null || (isWild && operator !== "==" && operator !== "!="))
      throw new RequirementError("its version is not understood; write it as in 'numpy>=2,<3'");
    specifiers.push(`${operator}${version}`);
    scanner.skipBlanks();
  } while (scanner.take(/,/y) !== null);
  return specifiers;
}

/** Marker and hashes, after which nothing may be left. */
function finish(
  scanner: Scanner,
  requirement: string,
): { readonly text: string; readonly hashes: readonly string[] } {
  scanner.skipBlanks();
  const marker = scanner.take(/;/y) === null ? "" : ` ; ${readMarker(scanner)}`;
  const hashes: string[] = [];
  for (;;) {
    scanner.skipBlanks();
    const hash = scanner.take(HASH);
    if (hash === null) break;
    hashes.push(hash.replace(" ", "="));
  }
  if (!scanner.isAtEnd()) throw new RequirementError(describeRest(scanner.rest()));
  return { text: [`${requirement}${marker}`, ...hashes].join(" "), hashes };
}

function describeRest(rest: string): string {
  const [first = ""] = rest;
  if (!/^[ -~]/.test(first)) {
    const code = (first.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0");
    return `the character U+${code} is not understood there; write it in ASCII, with plain spaces`;
  }
  if (/^[a-z+]*:\/\//.test(rest))
    return "its address is not understood; it must begin with https://, http://, git+https:// or git+http://, and ${VARIABLE} is not replaced";
  if (/^=[^=]|^=>/.test(rest))
    return "versions are compared with ==, >=, <=, >, <, != or ~=, as in 'numpy>=2,<3'";
  if (rest.startsWith("--hash"))
    return "its hash must be sha256, sha384 or sha512 in lower-case hexadecimal digits, as in '--hash=sha256:...'";
  if (rest.startsWith("-"))
    return "the only option that may follow a requirement is '--hash=sha256:...'; options such as --index-url stand on a line of their own";
  return `'${rest.slice(0, 40)}' is not understood there`;
}

/** `-r=x` means the file `=x` to pip. */
const OPTION = /^(?:(-[A-Za-z])(?: (.*))?|(--[a-z-]+)(?:[= ](.*))?)$/;
const BINARY_NAMES = /^(?::all:|:none:|[A-Za-z0-9][A-Za-z0-9._-]*(?:,[A-Za-z0-9][A-Za-z0-9._-]*)*)$/;

type OptionReader = (value: string, name: string) => RequirementLine;

const readFileOption =
  (section: "requirements" | "constraints"): OptionReader =>
  (value) => ({ kind: "file", section, path: readNestedPath(value) });
const readIndexOption: OptionReader = (value) => ({
  kind: "option",
  text: `--index-url ${readAddress(value)}`,
});
const readBinaryOption: OptionReader = (value, name) => {
  if (!BINARY_NAMES.test(value))
    throw new RequirementError(`${name} takes ':all:' or names parted by commas`);
  return { kind: "option", text: `${name} ${value}` };
};
const readLinksOption: OptionReader = (value) =>
  /^https?:/.test(value)
    ? { kind: "option", text: `--find-links ${readAddress(value)}` }
    : { kind: "find-links", path: readNestedPath(value.replace(/^file:/, "")) };
const refuseEditable: OptionReader = () => {
  throw new RequirementError("it is editable, which a version cannot be; write it without '-e'");
};

/** Options that are allowed on a line of their own; all others are refused. */
const OPTION_READERS: ReadonlyMap<string, OptionReader> = new Map([
  ["-r", readFileOption("requirements")],
  ["--requirement", readFileOption("requirements")],
  ["-c", readFileOption("constraints")],
  ["--constraint", readFileOption("constraints")],
  ["-i", readIndexOption],
  ["--index-url", readIndexOption],
  ["--extra-index-url", (value) => ({ kind: "option", text: `--extra-index-url ${readAddress(value)}` })],
  ["-f", readLinksOption],
  ["--find-links", readLinksOption],
  ["--no-binary", readBinaryOption],
  ["--only-binary", readBinaryOption],
  ["--no-index", (value, name) => ({ kind: "option", text: expectNoValue(name, value) })],
  [
    "--require-hashes",
    (value, name) => {
      expectNoValue(name, value);
      return { kind: "require-hashes" };
    },
  ],
  ["-e", refuseEditable],
  ["--editable", refuseEditable],
]);

function parseOption(text: string): RequirementLine {
  const [, short, shortValue, long, longValue] = OPTION.exec(text) ?? [];
  const name = short ?? long ?? "";
  const read = OPTION_READERS.get(name);
  if (read !== undefined) return read(shortValue ?? longValue ?? "", name);
  throw new RequirementError(
    "this option is not supported; supported are -r, -c, --index-url, --extra-index-url, --find-links, --no-index, --no-binary, --only-binary and --require-hashes, each on a line of its own. Remove it; in place of --pre name the exact version",
  );
}

function expectNoValue(name: string, value: string): string {
  if (value !== "") throw new RequirementError(`${name} takes no value`);
  return name;
}

function readAddress(value: string): string {
  const scanner = createScanner(value);
  const url = value.startsWith("git+") ? null : scanner.take(URL_TEXT);
  if (url === null || !scanner.isAtEnd())
    throw new RequirementError(
      "it must name one address that begins with https:// or http://, without quotes, ${VARIABLE} or another option behind it",
    );
  return url;
}

function readNestedPath(value: string): string {
  const scanner = createScanner(value);
  const path = scanner.take(PATH_TEXT);
  if (path === null || !scanner.isAtEnd())
    throw new RequirementError(
      "it must name one file or folder of the project, no address, of letters, digits, '.', '_', '-', '+' and '/'",
    );
  return normalizePath(path);
}

function normalizePath(path: string): string {
  const normal = posix.normalize(path).replace(/\/$/, "");
  if (normal.startsWith("/") || normal === ".." || normal.startsWith("../"))
    throw new RequirementError(`'${path}' lies outside of the project`);
  return normal;
}
