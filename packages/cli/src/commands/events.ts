import { defineCommand } from "../base/command.ts";
import type { CommandContext } from "../base/context.ts";
import { createInterruption } from "../base/errors.ts";
import { createItemWriter } from "../base/item-writer.ts";
import type { ItemWriter } from "../base/item-writer.ts";
import { cleanText } from "../base/output.ts";
import type { Output } from "../base/output.ts";
import { openSession } from "../base/session.ts";
import type { PlatformClient } from "../base/session.ts";
import { retryRead } from "../base/wait.ts";
import { paintStatus } from "../jobs/job.ts";

type FeedPage = Awaited<ReturnType<PlatformClient["listEvents"]>>;
type FeedEvent = FeedPage["items"][number];

const OLDEST = "0";
/** For how long the platform may delay an answer until there is an event. */
const HOLD = "wait=30";

/** `platform events`: writes changes of state as they are read. */
export const eventsCommand = defineCommand({
  name: "events",
  summary: "Show the changes of state of executions of the organisation",
  description: [
    "Of its jobs, of what its applications start (outgoing), and of what others start of its services (incoming); kept for seven days.",
    "Without --after from the oldest event on; with --follow from now on, until Ctrl-C.",
    "With --json: an array of events; with --follow it is written as they arrive. Each has the cursor to continue with.",
  ],
  arguments: {},
  options: {
    follow: { kind: "flag", short: "f", description: "Continue with what happens" },
    after: {
      kind: "text",
      placeholder: "cursor",
      description: "Only what follows this cursor; 0: the oldest event",
    },
  },
  examples: [
    { command: "platform events", comment: "The last seven days" },
    { command: "platform events --follow --after 0", comment: "The same, and what happens next" },
  ],
  run: async (context, { options }) => {
    const { client } = await openSession(context);
    const writer = createItemWriter<FeedEvent>(context.output, (event) => format(event, context.output));
    try {
      const after = options.after ?? (options.follow ? undefined : OLDEST);
      if (options.follow) await follow(context, client, { writer, after });
      else await list(client, writer, after ?? OLDEST);
    } catch (error) {
      writer.abort();
      throw error;
    }
    writer.end();
    return { json: undefined, succeeded: true };
  },
});

async function list(client: PlatformClient, writer: ItemWriter<FeedEvent>, after: string): Promise<void> {
  let page = await client.listEvents({ query: { after } });
  while (page.items.length > 0) {
    writer.add(page.items);
    page = await client.listEvents({ query: { after: page.cursor } });
  }
}

/** @throws UserError INTERRUPTED once the signal of the command aborts */
async function follow(
  { signal }: CommandContext,
  client: PlatformClient,
  { writer, after }: { readonly writer: ItemWriter<FeedEvent>; readonly after: string | undefined },
): Promise<never> {
  let query: { readonly after?: string } = after === undefined ? {} : { after };
  for (;;) {
    try {
      // The first answer comes at once: it says where to go on from.
      const isWaiting = query.after !== undefined;
      const page: FeedPage = await retryRead(
        () => client.listEvents({ query, ...(isWaiting ? { prefer: HOLD } : {}) }),
        signal,
      );
      writer.add(page.items);
      query = { after: page.cursor };
    } catch (error) {
      throw signal.aborted ? createInterruption() : error;
    }
    if (signal.aborted) throw createInterruption();
  }
}

function format(event: FeedEvent, output: Output): string {
  const { at, executionId, kind, version, status, code } = event;
  const state = paintStatus(output, status.padEnd("SUCCEEDED".length));
  return [output.paint("dim", at), state, kind.padEnd("outgoing".length), executionId, version, code ?? ""]
    .map((part) => cleanText(part))
    .join(" ")
    .trimEnd();
}
