import type { ItemOf } from "../api/client.ts";

type Listed = ItemOf<"listSubscriptions">;
type Subscription = Pick<Listed, "serviceKey" | "endpointUrl" | "status" | "versionStatus">;

/**
 * The subscriptions of a service that programs can be written for: its endpoint URL names a live version, and its provider has not ended
 * it. One that is paused is among them: who has paused it can resume it.
 */
export function findCallable<One extends Subscription>(
  all: readonly One[],
  serviceKey: string,
): readonly One[] {
  return all.filter(
    (one) =>
      one.serviceKey === serviceKey &&
      one.endpointUrl !== null &&
      one.versionStatus !== "RETIRED" &&
      one.status !== "ENDED",
  );
}

/** The version that the endpoint URL names; undefined: none is live. */
export function findNamedVersion({ endpointUrl }: Pick<Subscription, "endpointUrl">): string | undefined {
  return endpointUrl?.split("/").at(-2);
}

/** Whether the service has a page in the marketplace: it can be subscribed to, and a version of it is live. */
export function isShownInMarketplace({
  isOffered,
  latestVersion,
}: Pick<Listed, "isOffered" | "latestVersion">): boolean {
  return isOffered && latestVersion !== null;
}

/** What was retired of a service, in the words of a sentence; null: nothing that the subscription names. */
export function describeRetired({
  version,
  versionStatus,
}: Pick<Listed, "version" | "versionStatus">): string | null {
  if (versionStatus !== "RETIRED" || version === null) return null;
  return version.includes(".")
    ? `Version ${version} is retired`
    : `Each version of the major number ${version} is retired`;
}
