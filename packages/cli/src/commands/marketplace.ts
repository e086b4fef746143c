import type { MarketplaceCard, MarketplaceEntry } from "@platform/contract/platform-api/marketplace";
import { MARKETPLACE_SORTS } from "@platform/contract/platform-api/marketplace-sorts";
import type { MarketplaceSort } from "@platform/contract/platform-api/marketplace-sorts";
import { defineCommand } from "../base/command.ts";
import type { CommandContext } from "../base/context.ts";
import { cleanText } from "../base/output.ts";
import { openSession, readAllPages } from "../base/session.ts";
import { describeProvider, findListedService } from "../project/find-listed-service.ts";
import { formatPrice, printPlans } from "./plans.ts";

/** `platform marketplace search`: reads all pages before it prints. */
export const searchMarketplaceCommand = defineCommand({
  name: "marketplace search",
  summary: "Find services that applications can subscribe to",
  description: [
    "Lists services of the marketplace, and those that the organisation has published internally: all of them, or those that have all of the words, or their beginnings, in name, title, tags, summary or description.",
  ],
  arguments: { words: { description: "Words to search for, in quotes if several", required: false } },
  options: {
    tag: { kind: "text", placeholder: "tag", description: "Only services with this tag" },
    free: { kind: "flag", description: "Only services that have a plan without any price" },
    sort: {
      kind: "text",
      placeholder: "order",
      choices: MARKETPLACE_SORTS,
      description:
        "By when they were made, the newest first; by title; or by the price of the cheapest plan. Absent: with words the best match first, else the newest",
    },
  },
  examples: [
    { command: "platform marketplace search 'vehicle routing'", comment: "The best match first" },
    { command: "platform marketplace search --tag optimisation", comment: "The newest first" },
    { command: "platform marketplace search --sort price", comment: "What is free first" },
  ],
  run: async (context, { arguments: { words }, options: { tag, free, sort } }) => {
    const { client } = await openSession(context);
    const filter = {
      ...(words === undefined ? {} : { q: words }),
      ...(tag === undefined ? {} : { tag }),
      ...(free ? { price: "free" as const } : {}),
      ...pickSort(sort),
    };
    const found = await readAllPages((query) => client.listMarketplace({ query: { ...query, ...filter } }));
    context.output.printTable(
      ["NAME", "TITLE", "PROVIDER", "LATEST", "PRICE", "SUCCEEDED", "MEDIAN", "KEY"],
      found.map((card) => [
        cleanText(card.serviceName),
        cleanText(card.title),
        describeProvider(card),
        card.latestVersion,
        describePrice(card),
        card.figures === null ? "-" : `${card.figures.successPercent} %`,
        describeRun(card.figures),
        card.serviceKey,
      ]),
      "No service was found.",
    );
    return { json: found, succeeded: true };
  },
});

function pickSort(given: string | undefined): { readonly sort?: MarketplaceSort } {
  const sort = MARKETPLACE_SORTS.find((one) => one === given);
  return sort === undefined ? {} : { sort };
}

/** Of the cheapest plan; "-": none, which an application of the own organisation does not need. */
function describePrice({ priceFrom, hasOtherPrices }: MarketplaceCard): string {
  if (priceFrom === null) return "-";
  const price = formatPrice(priceFrom);
  if (!hasOtherPrices) return price;
  return price === "free" ? "free, or paid plans" : `from ${price}`;
}

function describeRun(figures: MarketplaceCard["figures"]): string {
  const median = figures?.medianRunMs ?? null;
  if (median === null) return "-";
  return median < 1_000 ? `${median} ms` : `${Number((median / 1_000).toPrecision(2))} s`;
}

/** `platform marketplace show`: one service with its plans and versions. */
export const showMarketplaceCommand = defineCommand({
  name: "marketplace show",
  summary: "Show a service with its plans and versions",
  description: ["'platform marketplace search' lists services. --json also has description and schemas."],
  arguments: { service: { description: "Name or key of the service", required: true } },
  options: {},
  examples: [
    {
      command: "platform marketplace show tsp --json | jq -r .description",
      comment: "Its description",
    },
  ],
  run: async (context, { arguments: { service } }) => {
    const { client } = await openSession(context);
    const key = await findListedService(client, service);
    const entry = await client.getMarketplaceEntry({ params: { key } });
    printEntry(context, entry);
    return { json: entry, succeeded: true };
  },
});

function printEntry(context: CommandContext, entry: MarketplaceEntry): void {
  const { output } = context;
  output.print(`${cleanText(entry.title)} (${entry.serviceName}) of ${describeProvider(entry)}`);
  if (entry.summary !== "") output.print(cleanText(entry.summary));
  output.print(`Versions  ${entry.versions.map(({ version }) => version).join(", ")}`);
  if (entry.tags.length > 0) output.print(`Tags      ${entry.tags.join(", ")}`);
  if (entry.contact !== null) output.print(`Contact   ${cleanText(entry.contact)}`);
  output.print(`Kept      results for ${entry.resultDays} days, logs for ${entry.logDays}`);
  if (entry.figures !== null) {
    const { successPercent } = entry.figures;
    output.print(`Ran       ${successPercent} % succeeded in 30 days, median ${describeRun(entry.figures)}`);
  }
  printPlans(context, entry.plans);
  output.print(`Next      platform subscribe ${entry.serviceKey} APPLICATION`);
}
