import type { MarketplaceCard } from "@platform/contract/platform-api/marketplace";
import { cleanText } from "../base/output.ts";
import { UserError } from "../base/errors.ts";
import { readAllPages } from "../base/session.ts";
import type { PlatformClient } from "../base/session.ts";
import { isKey } from "./find-service.ts";

/** Name and slug: anybody can give their organisation the name of another. */
export function describeProvider({
  providerName,
  providerSlug,
}: Pick<MarketplaceCard, "providerName" | "providerSlug">): string {
  return `${cleanText(providerName)} (${providerSlug})`;
}

/**
 * Key of the service with this name or key that the organisation can subscribe to. Services of several organisations may have one name.
 *
 * @throws UserError SERVICE_NOT_FOUND, SERVICE_AMBIGUOUS; a key is not looked up
 */
export async function findListedService(client: PlatformClient, wanted: string): Promise<string> {
  if (isKey(wanted)) return wanted;
  const found: readonly MarketplaceCard[] = await readAllPages((query) =>
    client.listMarketplace({ query: { ...query, q: wanted } }),
  );
  const matches = found.filter(({ serviceName }) => serviceName === wanted);
  const [first] = matches;
  if (first === undefined)
    throw new UserError("SERVICE_NOT_FOUND", `No service named '${wanted}' can be subscribed to.`, {
      hint: "'platform marketplace search' lists all; one of this organisation is published with 'platform publish'.",
    });
  if (matches.length === 1) return first.serviceKey;
  throw new UserError("SERVICE_AMBIGUOUS", `There are several services named '${wanted}'.`, {
    hint: "Use the key instead of the name.",
    details: matches.map((card) => `${describeProvider(card)}: ${card.serviceKey}`),
  });
}
