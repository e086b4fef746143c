import { Type } from "typebox";
import { SERVICE_NAME_PATTERN } from "../project.ts";
import { PageQuery } from "../service-api.ts";

export const PageQuerySchema = Type.Object(PageQuery);

export const ServiceName = Type.String({
  pattern: SERVICE_NAME_PATTERN,
  description: "Lower-case letters, digits and hyphens, at most 63",
});

export const DisplayName = Type.String({
  minLength: 1,
  maxLength: 120,
  pattern: "\\S",
  description: "A name for people",
});

export const VersionNumber = Type.String({ description: "MAJOR.MINOR.PATCH", examples: ["1.0.0"] });

export const ServiceKey = Type.String({ description: "Stable UUID of the service" });

export const KeyParams = Type.Object({ key: Type.String({ description: "Key of the service" }) });

/** The path parameters of an operation on one thing, e.g. `idOf("application")`. */
export function idOf(thing: string) {
  return Type.Object({ id: Type.String({ description: `Identifier of the ${thing}` }) });
}

/** What every operation of the platform API may be refused with. */
export const AUTHENTICATED = ["UNAUTHENTICATED", "FORBIDDEN"] as const;
