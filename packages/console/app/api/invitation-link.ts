import { RequestRefused } from "@platform/contract/client";
import type { AnswerOf } from "./client.ts";
import type { Scope } from "./scope.tsx";

/** What a link of an invitation leads to. */
export type InvitationLink =
  | { readonly kind: "open"; readonly invitation: AnswerOf<"getInvitation"> }
  | { readonly kind: "closed"; readonly detail: string };

/** Reads what the link is for, and keeps nothing: its token would be a key of the cache of reads. */
export async function readInvitationLink({ api }: Scope, token: string): Promise<InvitationLink> {
  try {
    return { kind: "open", invitation: await api.getInvitation({ params: { invitation: token } }) };
  } catch (error) {
    if (error instanceof RequestRefused && (error.status === 404 || error.status === 410))
      return { kind: "closed", detail: error.problem.detail };
    throw error;
  }
}
