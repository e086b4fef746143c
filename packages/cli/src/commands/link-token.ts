import { createUsageError } from "../base/errors.ts";

/** The last part of the link of an invitation, or what is no link as it is. @throws UserError USAGE */
export function readLinkToken(link: string): string {
  const token = link.trim().replace(/\/+$/u, "").split("/").at(-1) ?? "";
  if (token !== "") return token;
  throw createUsageError("The link of the invitation is required.", "'platform invite' prints it.");
}
