import { Type } from "typebox";
import { SERVICE_NAME_PATTERN } from "../project.ts";
import { PageQuery } from "../service-api.ts";
import { INVISIBLE, NAME_PATTERN } from "../visible-text.ts";

/** Name of a service. */
export const ServiceName = Type.String({
  pattern: SERVICE_NAME_PATTERN,
  description: "Lower-case letters, digits and hyphens, at most 63 characters",
});

const NAME = { maxLength: 120, pattern: NAME_PATTERN };

/** Name of a user, an organisation, an application or a token: at most 120 characters in one line, not blank. */
export const DisplayName = Type.String({
  ...NAME,
  minLength: 1,
  description: "Display name, one line, without characters that are not seen",
});

/** Parameters of a list of what has a display name. */
export const NameQuery = Type.Object({
  ...PageQuery.properties,
  q: Type.Optional(
    Type.String({
      maxLength: NAME.maxLength,
      description: "Only those whose name contains this text; capital letters do not matter",
    }),
  ),
});

const EMAIL_LETTERS = `[^\\s@<>(),:;"\\\\${INVISIBLE}]+`;

/** An email address as far as it can be judged without sending to it. */
export const EMAIL_PATTERN = `^${EMAIL_LETTERS}@${EMAIL_LETTERS}$`;

const EMAIL = { maxLength: 254, pattern: EMAIL_PATTERN };

/** An email address as far as it can be judged without sending to it: one, no more than one line, and all of it is seen: it stands for its user in the audit log. */
export const EmailAddress = Type.String({
  ...EMAIL,
  description: "Email address",
  examples: ["ada@example.org"],
});

/** Whether a text is such an address; for one that comes from elsewhere than a body, which the schema judges. */
export function isEmailAddress(text: string): boolean {
  return matches(EMAIL, text);
}

/** Whether a text is such a name, likewise. */
export function isDisplayName(text: string): boolean {
  return matches(NAME, text);
}

function matches({ maxLength, pattern }: typeof EMAIL, text: string): boolean {
  return text.length <= maxLength && new RegExp(pattern, "u").test(text);
}

/** A password to be set. */
export const NewPassword = Type.String({
  minLength: 12,
  maxLength: 256,
  description: "At least 12 characters",
});

/** Number of a version. */
export const VersionNumber = Type.String({ description: "MAJOR.MINOR.PATCH", examples: ["1.0.0"] });

/** Key of a service. */
export const ServiceKey = Type.String({ description: "Stable UUID of the service" });

/** The path parameters of an operation on one service. */
export const KeyParams = Type.Object({ key: Type.String({ description: "Key of the service" }) });

/** The path parameters of an operation on one resource, e.g. `idOf("application")`. */
export function idOf(resource: string) {
  return Type.Object({ id: Type.String({ description: `Identifier of the ${resource}` }) });
}

/** In a body that replaces something as a whole: what its sender had read, so that nobody takes back another's change without knowing. */
export function Replaces(resource: string) {
  return Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 2_147_483_646,
      description: `The revision of the ${resource} that this one replaces, as it was read; 0: there was none; absent: whichever there is`,
    }),
  );
}
