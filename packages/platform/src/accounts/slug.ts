import { randomBytes } from "node:crypto";

const MAX_LEGIBLE_LENGTH = 40;

/** A slug for an organisation of this name: legible where the name is Latin, and unique by what follows. */
export function createSlug(name: string): string {
  const words =
    name
      .normalize("NFKD")
      .toLowerCase()
      .match(/[a-z0-9]+/gu) ?? [];
  const legible = words.join("-").slice(0, MAX_LEGIBLE_LENGTH).replace(/-$/u, "") || "personal";
  return `${legible}-${randomBytes(4).toString("hex")}`;
}
