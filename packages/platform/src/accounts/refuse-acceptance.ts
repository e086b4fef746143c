import { Problem } from "@platform/contract/problems";
import type { Acceptance } from "../store/accounts/invitations.ts";

/** Why an invitation was not accepted. */
export function refuseAcceptance(reason: Extract<Acceptance, string>): Problem {
  switch (reason) {
    case "unknown":
      return new Problem("NOT_FOUND", "There is no such invitation.");
    case "closed":
      return new Problem(
        "LINK_EXPIRED",
        "The invitation was used, declined or revoked, or has expired; ask for a new one.",
      );
    case "another address":
      return new Problem(
        "FORBIDDEN",
        "The invitation is for another email address; sign in as the user who was invited.",
      );
    case "member already":
      return new Problem("CONFLICT", "You are a member of this organisation already.");
    default:
      return reason satisfies never;
  }
}
