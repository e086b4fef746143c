import type { Closers } from "@platform/engine/base/closers";
import type { Logger } from "@platform/engine/base/logger";
import type { MemoryFeed } from "@platform/engine/executions/memory-feed";
import type { ExecutionStore } from "@platform/engine/store/execution-store";
import { createMemoryStore } from "@platform/engine/store/memory-store";
import type { MemoryStore } from "@platform/engine/store/memory-store";
import type { Output } from "../base/output.ts";
import { createAnnouncingStore } from "./announcing-store.ts";
import { createHoldingStore } from "./holding-store.ts";
import type { KeptContents } from "./kept-contents.ts";
import { createLocalWebhooks } from "./local-webhooks.ts";
import type { LocalWebhooks } from "./local-webhooks.ts";
import type { WebhookSettings } from "./webhook-settings.ts";

interface LocalStoreParts {
  readonly feed: Pick<MemoryFeed, "add">;
  readonly contents: KeptContents;
  /** Null: starts that name a URL are refused. */
  readonly settings: WebhookSettings | null;
  readonly output: Output;
  readonly logger: Logger;
  readonly closers: Pick<Closers, "add">;
}

/** A store in memory, and what is told of its executions. */
interface LocalStore {
  readonly memory: MemoryStore;
  /** `memory`, whose executions are announced, hold their contents, and are told to URLs. */
  readonly store: ExecutionStore;
  /** Undefined: no URLs are told. */
  readonly webhooks: LocalWebhooks | undefined;
}

/** Empty at first. */
export function createLocalStore({
  feed,
  contents,
  settings,
  output,
  logger,
  closers,
}: LocalStoreParts): LocalStore {
  const webhooks = settings === null ? undefined : createLocalWebhooks({ ...settings, logger });
  if (webhooks !== undefined) closers.add("webhooks", webhooks.close);
  const memory = createMemoryStore((record) => {
    feed.add(record);
    webhooks?.notice(record);
  });
  const told = webhooks?.wrapStore(memory) ?? memory;
  return { memory, store: createHoldingStore(createAnnouncingStore(told, output), contents), webhooks };
}
