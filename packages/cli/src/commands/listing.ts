import { readFile, stat } from "node:fs/promises";
import { extname, resolve } from "node:path";
import { parseExactNumbers } from "@platform/contract/exact-number";
import type { Listing } from "@platform/contract/platform-api/marketplace";
import { isRecord } from "@platform/engine/base/json";
import { defineCommand } from "../base/command.ts";
import type { CommandContext } from "../base/context.ts";
import { UserError, createUsageError } from "../base/errors.ts";
import { readIfThere } from "../base/files.ts";
import { cleanText } from "../base/output.ts";
import { openSession } from "../base/session.ts";
import { findService } from "../project/find-service.ts";

type Change = Partial<Omit<Listing, "changedAt">>;

/** `platform listing`: shows or changes what a service shows of itself. */
export const listingCommand = defineCommand({
  name: "listing",
  summary: "Show or change what the marketplace shows of a service",
  description: [
    "Without options, shows it; what is not given stays. Without a service, that of the project in this folder.",
    "The description is the project's 'descriptionFile', unless the console was given another one.",
    "Seen at once where the service is published.",
  ],
  arguments: { service: { description: "Name or key of the service", required: false } },
  options: {
    title: { kind: "text", placeholder: "text", description: "Title, one line" },
    summary: { kind: "text", placeholder: "text", description: "One line below the title" },
    tags: { kind: "text", placeholder: "list", description: "What it is found by, separated by commas" },
    contact: { kind: "text", placeholder: "text", description: "An email address or an https URL" },
    icon: { kind: "text", placeholder: "path", description: "Image: PNG, JPEG or WebP, at most 12 KB" },
    example: { kind: "text", placeholder: "path", description: "JSON file with the body of a start to try" },
    figures: {
      kind: "text",
      placeholder: "whether",
      choices: ["share", "hide"],
      description:
        "Whether others see how many executions of other organisations succeed, and their median run time, from 20 in 30 days on",
    },
    clear: {
      kind: "text",
      placeholder: "list",
      description: "What to take away: summary, tags, contact, icon, example; separated by commas",
    },
  },
  examples: [
    {
      command: "platform listing tsp --title 'Round trips' --tags routing,logistics",
      comment: "Others stay",
    },
    { command: "platform listing tsp --clear icon,contact", comment: "Takes both away" },
  ],
  run: async (context, { arguments: { service: given }, options }) => {
    const change = { ...readCleared(options.clear), ...(await readChange(context, options)) };
    const { client } = await openSession(context);
    const { key } = await findService(context, client, given);
    const found = await client.getListing({ params: { key } });
    const { changedAt: _changedAt, ...former } = found;
    const body = { ...former, ...change };
    const isChanged = Object.keys(change).length > 0;
    const listing = isChanged ? await client.putListing({ params: { key }, body }) : found;
    printListing(context, listing);
    return { json: listing, succeeded: true };
  },
});

/** What each name of --clear leaves. */
const EMPTY = {
  summary: { summary: "" },
  tags: { tags: [] },
  contact: { contact: null },
  icon: { icon: null },
  example: { exampleInput: null },
} as const satisfies Record<string, Change>;

function readCleared(given: string | undefined): Change {
  let change: Change = {};
  for (const name of splitList(given ?? "")) {
    const known = Object.entries(EMPTY).find(([one]) => one === name);
    if (known === undefined)
      throw createUsageError(
        `--clear knows no '${name}'.`,
        `Choose from ${Object.keys(EMPTY).join(", ")}; a title is always shown.`,
      );
    change = { ...change, ...known[1] };
  }
  return change;
}

interface ListingOptions {
  readonly title: string | undefined;
  readonly summary: string | undefined;
  readonly tags: string | undefined;
  readonly contact: string | undefined;
  readonly icon: string | undefined;
  readonly example: string | undefined;
  readonly figures: string | undefined;
}

/** @throws UserError INPUT_INVALID for a file that is none */
async function readChange(context: CommandContext, options: ListingOptions): Promise<Change> {
  const { title, summary, tags, contact, icon, example, figures } = options;
  return {
    ...(title === undefined ? {} : { title }),
    ...(summary === undefined ? {} : { summary }),
    ...(tags === undefined ? {} : { tags: splitList(tags) }),
    ...(contact === undefined ? {} : { contact }),
    ...(icon === undefined ? {} : { icon: await readIcon(context, icon) }),
    ...(example === undefined ? {} : { exampleInput: await readExample(context, example) }),
    ...(figures === undefined ? {} : { sharesFigures: figures === "share" }),
  };
}

function splitList(text: string): string[] {
  return text
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "");
}

const IMAGE_TYPES: ReadonlyMap<string, string> = new Map([
  [".png", "png"],
  [".jpg", "jpeg"],
  [".jpeg", "jpeg"],
  [".webp", "webp"],
]);

/** As many bytes as a data URL of 16,384 characters has room for. */
const MAX_ICON_BYTES = 12_000;

async function readIcon({ directory }: CommandContext, path: string): Promise<string> {
  const type = IMAGE_TYPES.get(extname(path).toLowerCase());
  if (type === undefined)
    throw new UserError("INPUT_INVALID", `The icon '${path}' is none of .png, .jpg, .jpeg and .webp.`);
  const full = resolve(directory, path);
  const found = await stat(full).catch((error: unknown) => {
    throw new UserError("INPUT_INVALID", `The icon '${path}' cannot be read.`, { cause: error });
  });
  if (!found.isFile() || found.size > MAX_ICON_BYTES)
    throw new UserError("INPUT_INVALID", `The icon '${path}' is no file of at most ${MAX_ICON_BYTES} bytes.`);
  return `data:image/${type};base64,${(await readFile(full)).toString("base64")}`;
}

async function readExample({ directory }: CommandContext, path: string): Promise<Listing["exampleInput"]> {
  const text = await readIfThere(resolve(directory, path));
  if (text === null) throw new UserError("INPUT_INVALID", `The file '${path}' of --example does not exist.`);
  const value = parseJson(path, text);
  // The platform judges what is in it.
  if (isRecord(value)) return value;
  throw new UserError("INPUT_INVALID", `The file '${path}' is no JSON object with 'data' and 'params'.`);
}

function parseJson(path: string, text: string): unknown {
  try {
    // Whoever tries it sends the numbers that stand in the file.
    return parseExactNumbers(text);
  } catch (error) {
    throw new UserError("INPUT_INVALID", `The file '${path}' is not JSON.`, { cause: error });
  }
}

function printListing({ output }: CommandContext, listing: Listing): void {
  const { title, summary, tags, contact, icon, exampleInput, sharesFigures, changedAt } = listing;
  output.print(`Title    ${cleanText(title)}`);
  output.print(`Summary  ${cleanText(summary) || "-"}`);
  output.print(`Tags     ${tags.join(", ") || "-"}`);
  output.print(`Contact  ${cleanText(contact ?? "-")}`);
  output.print(`Icon     ${icon === null ? "-" : "yes"}`);
  output.print(`Example  ${exampleInput === null ? "-" : "yes"}`);
  output.print(`Figures  ${sharesFigures ? "shared" : "not shared"}`);
  output.print(`Changed  ${changedAt ?? "never: the title is the service's name"}`);
}
