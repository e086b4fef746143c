import { Type } from "typebox";
import type { TSchema } from "typebox";
import { SERVICE_NAME_PATTERN } from "../project.ts";
import { PageQuery } from "../service-api.ts";

export const Timestamp = Type.String({
  description: "YYYY-MM-DD HH:MM:SS, UTC",
  examples: ["2026-11-20 21:17:00"],
});

export const PageQuerySchema = Type.Object(PageQuery);

/** One page of a list: `nextCursor` is null on the last. */
export function pageOf<T extends TSchema>(item: T) {
  return Type.Object({ items: Type.Array(item), nextCursor: Type.Union([Type.String(), Type.Null()]) });
}

export const ServiceName = Type.String({
  pattern: SERVICE_NAME_PATTERN,
  description: "Lower-case letters, digits and hyphens, at most 63",
});

export const DisplayName = Type.String({ minLength: 1, maxLength: 120, pattern: "\\S" });

export const KeyParams = Type.Object({ key: Type.String({ description: "Service key" }) });

export const IdParams = Type.Object({ id: Type.String() });

/** What every authenticated operation may answer besides its own problems. */
export const AUTHENTICATED = ["UNAUTHENTICATED", "FORBIDDEN"] as const;
