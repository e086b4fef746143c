import type { ItemOf } from "../api/client.ts";

/** An execution in a list. */
export type ExecutionSummary = ItemOf<"listExecutions">;

/** How an execution concerns the organisation, as a tab and as a word. */
export const KINDS = {
  job: { tab: "Jobs", word: "Job" },
  outgoing: { tab: "Outgoing", word: "Outgoing" },
  incoming: { tab: "Incoming", word: "Incoming" },
} as const satisfies Record<ExecutionSummary["kind"], { readonly tab: string; readonly word: string }>;

/** Who has started an execution, as far as the organisation may know. */
export function describeCaller({
  kind,
  application,
}: Pick<ExecutionSummary, "kind" | "application">): string {
  if (application === undefined) return kind === "job" ? "A member" : "An application";
  const name = application.name ?? "An application";
  return application.organizationName === undefined ? name : `${name} (${application.organizationName})`;
}

/** The first part of an identifier: enough for people to tell it from the ones beside it. */
export function shortenId(id: string): string {
  // Identifiers begin with their time: only their end differs between neighbours.
  return `${id.slice(0, 8)}…${id.slice(-6)}`;
}
