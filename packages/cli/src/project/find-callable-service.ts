import { RequestRefused } from "@platform/contract/client";
import { UserError } from "../base/errors.ts";
import { readAllPages } from "../base/session.ts";
import type { PlatformClient } from "../base/session.ts";
import { describeProvider } from "./find-listed-service.ts";
import { findServiceByName, isKey } from "./find-service.ts";

/** A service whose clients the organisation may have. */
export interface CallableService {
  readonly key: string;
  readonly name: string;
  /** The newest version, of a subscription that which it leads to; null: none is live. */
  readonly version: string | null;
  /** Whose it is, for the choice between several. */
  readonly of: string;
}

/**
 * The service with this name or key that the organisation may call: one that is published for it, one of its own, or one that it has
 * subscribed to.
 *
 * @throws UserError SERVICE_NOT_FOUND, SERVICE_AMBIGUOUS
 */
export async function findCallableService(client: PlatformClient, wanted: string): Promise<CallableService> {
  const found = isKey(wanted) ? await findByKey(client, wanted) : await findByName(client, wanted);
  const [first] = found;
  if (first === undefined)
    throw new UserError("SERVICE_NOT_FOUND", `There is no service '${wanted}' that can be called.`, {
      hint: "'platform marketplace search' lists what applications can subscribe to, 'platform subscriptions ls' what they have subscribed to, 'platform services' those of this organisation.",
    });
  if (found.length === 1) return first;
  throw new UserError("SERVICE_AMBIGUOUS", `There are several services named '${wanted}'.`, {
    hint: "Use the key instead of the name.",
    details: found.map(({ of, key }) => `${of}: ${key}`),
  });
}

async function findByName(client: PlatformClient, wanted: string): Promise<readonly CallableService[]> {
  const [cards, own, subscribed] = await Promise.all([
    readAllPages((query) => client.listMarketplace({ query: { ...query, q: wanted } })),
    findServiceByName(client, wanted),
    listSubscribed(client),
  ]);
  const offered = cards
    .filter(({ serviceName }) => serviceName === wanted)
    .map((card) => toOffered(card, describeProvider(card)));
  const all = [
    ...offered,
    ...(own === null ? [] : [toOwn(own)]),
    ...subscribed.filter(({ name }) => name === wanted),
  ];
  // One that is both published and an own one, or subscribed to, is named as the first of these.
  return all.filter(({ key }, index) => all.findIndex((other) => other.key === key) === index);
}

async function findByKey(client: PlatformClient, key: string): Promise<readonly CallableService[]> {
  const offered = await unlessMissing(client.getMarketplaceEntry({ params: { key } }));
  if (offered !== null) return [toOffered(offered, describeProvider(offered))];
  const own = await unlessMissing(client.getService({ params: { key } }));
  if (own !== null) return [toOwn(own)];
  return (await listSubscribed(client)).filter((one) => one.key === key).slice(0, 1);
}

interface Offered {
  readonly serviceKey: string;
  readonly serviceName: string;
  readonly latestVersion: string;
}

function toOffered({ serviceKey, serviceName, latestVersion }: Offered, of: string): CallableService {
  return { key: serviceKey, name: serviceName, version: latestVersion, of };
}

interface Own {
  readonly key: string;
  readonly name: string;
  readonly latestVersion: string | null;
}

function toOwn({ key, name, latestVersion }: Own): CallableService {
  return { key, name, version: latestVersion, of: "This organisation" };
}

async function listSubscribed(client: PlatformClient): Promise<readonly CallableService[]> {
  const subscriptions = await readAllPages((query) => client.listSubscriptions({ query }));
  return subscriptions.map(({ serviceKey, serviceName, endpointUrl }) => ({
    key: serviceKey,
    name: serviceName,
    version: endpointUrl?.replace(/\/$/u, "").split("/").at(-1) ?? null,
    of: "Subscribed to",
  }));
}

async function unlessMissing<T>(answer: Promise<T>): Promise<T | null> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof RequestRefused && error.problem.code === "SERVICE_NOT_FOUND") return null;
    throw error;
  }
}
