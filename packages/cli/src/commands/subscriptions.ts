import type { Subscription } from "@platform/contract/platform-api/subscriptions";
import { defineCommand } from "../base/command.ts";
import type { CommandContext } from "../base/context.ts";
import { createUsageError } from "../base/errors.ts";
import { cleanText } from "../base/output.ts";
import { openSession, readAllPages } from "../base/session.ts";
import type { PlatformClient } from "../base/session.ts";
import { findService } from "../project/find-service.ts";

/** `platform subscriptions ls`: the organisation's own, or those to a service of it. */
export const listSubscriptionsCommand = defineCommand({
  name: "subscriptions ls",
  isDefault: true,
  summary: "List subscriptions, or who has subscribed to a service",
  description: [
    "Lists the subscriptions of the organisation's applications; with --of, who has subscribed to a service of the organisation.",
  ],
  arguments: {},
  options: {
    of: {
      kind: "text",
      placeholder: "service",
      description: "Name or key of the organisation's own service",
    },
  },
  examples: [
    { command: "platform subscriptions ls", comment: "With their endpoint URLs" },
    { command: "platform subscriptions ls --of tsp", comment: "Who has subscribed to tsp" },
  ],
  run: async (context, { options: { of } }) => {
    const { client } = await openSession(context);
    return of === undefined ? await listOwn(context, client) : await listSubscribers(context, client, of);
  },
});

/** `platform subscriptions change`: pauses, resumes, changes plan or version. */
export const changeSubscriptionCommand = defineCommand({
  name: "subscriptions change",
  summary: "Pause or resume a subscription, change its plan or version",
  description: ["A paused subscription starts nothing; states and results of what it started stay."],
  arguments: { id: { description: "Id of the subscription", required: true } },
  options: {
    pause: { kind: "flag", description: "Start nothing until it is resumed" },
    resume: { kind: "flag", description: "Start executions again" },
    plan: { kind: "text", placeholder: "plan", description: "Change to the current terms of this plan" },
    version: {
      kind: "text",
      placeholder: "version",
      description:
        "Version of the endpoint URL: 1.2.0 pins it, 1 follows this major number, latest the highest",
    },
  },
  exclusive: [["pause", "resume"]],
  examples: [
    {
      command: "platform subscriptions change 0198c1de-7a53-7000-8000-000000000000 --pause",
      comment: "Start nothing",
    },
  ],
  run: async (context, { arguments: { id }, options: { pause, resume, plan, version } }) => {
    const body = {
      ...(pause ? { status: "PAUSED" as const } : {}),
      ...(resume ? { status: "ACTIVE" as const } : {}),
      ...(plan === undefined ? {} : { planId: plan }),
      ...(version === undefined ? {} : { version: version === "latest" ? null : version }),
    };
    if (Object.keys(body).length === 0)
      throw createUsageError("Nothing to change.", "Pass --pause, --resume, --plan or --version.");
    const { client } = await openSession(context);
    const changed = await client.putSubscription({ params: { id }, body });
    printSubscriptions(context, [changed]);
    return { json: changed, succeeded: true };
  },
});

/** `platform subscriptions rm`: removes one. Ending one is the provider's. */
export const removeSubscriptionCommand = defineCommand({
  name: "subscriptions rm",
  summary: "Remove a subscription of an application",
  description: [
    "Gateways refuse the application's calls of the service within a second. Its executions that have not ended are cancelled.",
  ],
  arguments: { id: { description: "Id of the subscription", required: true } },
  options: {},
  examples: [
    { command: "platform subscriptions rm 0198c1de-7a53-7000-8000-000000000000", comment: "Remove one" },
  ],
  run: async (context, { arguments: { id } }) => {
    const { client } = await openSession(context);
    await client.cancelSubscription({ params: { id } });
    context.output.print("The subscription is removed.");
    return { json: { id }, succeeded: true };
  },
});

/** `platform subscriptions end`: ends one as the provider. */
export const endSubscriberCommand = defineCommand({
  name: "subscriptions end",
  summary: "End a subscription to a service, as its provider",
  description: [
    "Gateways refuse its starts within a second, with the reason. What it has started goes on, and the subscriber still reads it. For good: there is no way back.",
    "'platform subscriptions ls --of SERVICE' has the ids.",
  ],
  arguments: {
    id: { description: "Id of the subscription", required: true },
    service: { description: "Name or key of the organisation's own service", required: false },
  },
  options: {
    reason: { kind: "text", placeholder: "text", description: "What the subscriber is told, one line" },
  },
  examples: [
    {
      command:
        "platform subscriptions end 0198c1de-7a53-7000-8000-000000000000 tsp --reason 'Closed on 1 May: use tsp2'",
      comment: "The reason is on the subscriber's page and in the refusals",
    },
  ],
  run: async (context, { arguments: { id, service }, options: { reason } }) => {
    if (reason === undefined)
      throw createUsageError("There is no reason.", "Say with --reason what the subscriber is told.");
    const { client } = await openSession(context);
    const { key } = await findService(context, client, service);
    await client.endSubscription({ params: { key, subscriptionId: id }, body: { reason } });
    context.output.print("The subscription is ended: it starts nothing any more.");
    return { json: { id, reason }, succeeded: true };
  },
});

async function listOwn(context: CommandContext, client: PlatformClient) {
  const subscriptions = await readAllPages((query) => client.listSubscriptions({ query }));
  if (subscriptions.length === 0)
    context.output.print("No subscriptions yet. Make one with 'platform subscribe'.");
  else printSubscriptions(context, subscriptions);
  return { json: subscriptions, succeeded: true };
}

async function listSubscribers(context: CommandContext, client: PlatformClient, service: string) {
  const { key, name } = await findService(context, client, service);
  const subscribers = await readAllPages((query) =>
    client.listServiceSubscriptions({ params: { key }, query }),
  );
  context.output.printTable(
    ["ID", "ORGANISATION", "APPLICATION", "STATE", "PLAN", "VERSION", "IN 30 DAYS", "SINCE"],
    subscribers.map((one) => [
      one.id,
      cleanText(one.organizationName),
      cleanText(one.applicationName),
      one.status,
      one.planId ?? "-",
      one.version ?? "latest",
      String(one.executions30d),
      one.createdAt,
    ]),
    `Nobody has subscribed to ${name} yet.`,
  );
  return { json: subscribers, succeeded: true };
}

function printSubscriptions({ output }: CommandContext, subscriptions: readonly Subscription[]): void {
  output.printTable(
    ["ID", "SERVICE", "STATE", "PLAN", "USED", "AT ONCE", "VERSION", "OFFERED", "ENDPOINT"],
    subscriptions.map((one) => [
      one.id,
      cleanText(one.serviceName),
      one.status,
      one.plan?.id ?? "-",
      describeQuota(one.quota),
      one.concurrency === null ? "-" : `${one.concurrency.used}/${one.concurrency.limit}`,
      describeVersion(one),
      one.isOffered ? "yes" : "no",
      one.endpointUrl ?? "-",
    ]),
  );
  for (const one of subscriptions) {
    const { id, endReason, versionStatus, latestVersion } = one;
    if (endReason !== null) output.print(`${id} was ended by the provider: ${cleanText(endReason)}`);
    else if (versionStatus === "RETIRED")
      output.print(
        `Starts of the version of ${id} are refused: it is retired. ${
          latestVersion === null
            ? "No version of the service is live."
            : `'platform subscriptions change ${id} --version ${latestVersion}' names one that is live.`
        }`,
      );
  }
}

/** "1.2.0", "1 (retired)". */
function describeVersion({ version, versionStatus }: Subscription): string {
  const named = version ?? "latest";
  return versionStatus === "RETIRED" ? `${named} (retired)` : named;
}

/** "12/5000", "3.5/100 CPU-s". */
function describeQuota(quota: Subscription["quota"]): string {
  if (quota === null) return "-";
  const { unit, used, limit } = quota;
  return unit === "execution" ? `${used}/${limit}` : `${Number(used.toFixed(1))}/${limit} CPU-s`;
}
