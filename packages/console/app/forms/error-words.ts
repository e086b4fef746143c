import { EMAIL_PATTERN } from "@platform/contract/platform-api/common";
import { BACKEND_ID_PATTERN } from "@platform/contract/project";
import { AMOUNT_DECIMALS, AMOUNT_PATTERN } from "@platform/contract/quantum-api/price";
import { NAME_PATTERN, VISIBLE } from "@platform/contract/visible-text";

const AMOUNT = "must be an amount, such as 12 or 0.0025, with at most 9 digits before the point and";

/** What the patterns of bodies ask for: nobody reads a regular expression. A test finds a pattern that has no words here. */
const PATTERNS: Readonly<Record<string, string>> = {
  [EMAIL_PATTERN]: "must be an email address",
  [NAME_PATTERN]: "must be one line, and not blank",
  [`^${VISIBLE}`]: "must be one line",
  "^[a-z0-9]+(-[a-z0-9]+)*$": "must be lower-case letters and digits, with single hyphens between them",
  "^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$":
    "must be lower-case letters, digits and hyphens, at most 63, and not begin or end with a hyphen",
  "^[a-z0-9][a-z0-9-]{0,61}[a-z0-9]$":
    "must be 2 to 63 lower-case letters, digits and hyphens, and not begin or end with a hyphen",
  "^[a-z0-9][a-z0-9-]{0,31}$":
    "must be lower-case letters, digits and hyphens, at most 32, and not begin with a hyphen",
  [BACKEND_ID_PATTERN]:
    "must be lower-case letters and digits, with single hyphens and dots between them, at most 63",
  "^[A-Z]{3}$": "must be a currency code of three capital letters, such as EUR",
  [AMOUNT_PATTERN]: `${AMOUNT} ${AMOUNT_DECIMALS} after it`,
  "^(0|[1-9][0-9]{0,8})([.][0-9]{1,6})?$": `${AMOUNT} 6 after it`,
  "^data:image/(png|jpeg|webp);base64,[A-Za-z0-9+/]+={0,2}$": "must be a PNG, JPEG or WebP image",
  "^(https://[^\\s<>\"']+|[^\\s<>\"'@]+@[^\\s<>\"'@]+)$": "must be an email address or an https URL",
  "^(0|[1-9][0-9]{0,8})([.](0|[1-9][0-9]{0,8})[.](0|[1-9][0-9]{0,8}))?$":
    "must be a version such as 1.2.0, or a major number such as 1",
  "^(0|[1-9][0-9]{0,8})[.](0|[1-9][0-9]{0,8})[.](0|[1-9][0-9]{0,8})$": "must be a version such as 1.2.0",
  "^(/([^/~]|~[01])*){0,64}$": "must be a JSON pointer, such as /cities/0",
  "^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$": "must be a UUID",
  "^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01]) ([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]$":
    "must be a time such as 2026-11-28 09:30:00",
  "^(?!(CANCELLED|NOT_STARTED|START_DEADLINE_EXCEEDED)$)": "must be a code that is tried again",
  "^(read|run|deploy|admin)( (read|run|deploy|admin)){0,3}$":
    "must be scopes out of read, run, deploy and admin, with spaces between them",
};

/** Messages of the check, which the server sends as well, and what is said in place of them. */
const MESSAGES: readonly (readonly [RegExp, (found: string) => string | undefined])[] = [
  [/^must match pattern "(?<found>.*)"\.?$/su, (pattern) => PATTERNS[pattern]],
  [
    /^must not have fewer than (?<found>\d+) characters$/u,
    (least) => (least === "1" ? "is required" : `must have at least ${least} characters`),
  ],
  [/^must not have more than (?<found>\d+) characters$/u, (most) => `must have at most ${most} characters`],
  [/^must not have more than (?<found>\d+) items$/u, (most) => `must be at most ${most}`],
  [/^must be >= (?<found>\S+)$/u, (least) => `must be at least ${least}`],
  [/^must be <= (?<found>\S+)$/u, (most) => `must be at most ${most}`],
  [/^must be (?<found>integer)$/u, () => "must be a whole number"],
  [/^must be (?<found>object)$/u, () => "must be a JSON object"],
];

/** What is wrong with a field, in words of people. */
export function putInWords(message: string): string {
  for (const [form, write] of MESSAGES) {
    const found = form.exec(message)?.groups?.["found"];
    if (found !== undefined) return write(found) ?? message;
  }
  return message;
}
