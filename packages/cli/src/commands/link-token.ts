import { RequestRefused } from "@platform/contract/client";
import { UserError, createUsageError } from "../base/errors.ts";

/** The last part of the link of an invitation, or what is no link as it is. @throws UserError USAGE */
export function readLinkToken(link: string): string {
  const token = link.trim().replace(/\/+$/u, "").split("/").at(-1) ?? "";
  if (token !== "") return token;
  throw createUsageError("The link of the invitation is required.", "'platform invite' prints it.");
}

const ADVICE: Readonly<Record<string, string>> = {
  NOT_FOUND: "Copy the whole link, or ask who sent it for a new one.",
  FORBIDDEN:
    "Take the address that it was sent to, or ask who sent it for one to the address that you want to use.",
};

/**
 * For a refusal of the link of an invitation. Invitations that one was sent are in no list, which is what an unknown id is answered with
 * elsewhere, and another token or organisation opens none.
 */
export function refuseLink(error: unknown): never {
  const hint = error instanceof RequestRefused ? ADVICE[error.problem.code] : undefined;
  if (!(error instanceof RequestRefused) || hint === undefined) throw error;
  throw new UserError(error.problem.code, error.problem.detail, { cause: error, hint });
}
