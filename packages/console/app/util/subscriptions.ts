import type { ItemOf } from "../api/client.ts";

type Subscription = Pick<ItemOf<"listSubscriptions">, "serviceKey" | "endpointUrl" | "status">;

/**
 * The subscriptions of a service that programs can be written for: it has an endpoint URL, and its provider has not ended it. One that is
 * paused is among them: who has paused it can resume it.
 */
export function findCallable<One extends Subscription>(
  all: readonly One[],
  serviceKey: string,
): readonly One[] {
  return all.filter(
    (one) => one.serviceKey === serviceKey && one.endpointUrl !== null && one.status !== "ENDED",
  );
}

/** The version that the endpoint URL names; undefined: none is live. */
export function findNamedVersion({ endpointUrl }: Pick<Subscription, "endpointUrl">): string | undefined {
  return endpointUrl?.split("/").at(-2);
}
