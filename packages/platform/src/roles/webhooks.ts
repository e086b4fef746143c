import { SECOND } from "@platform/engine/base/time";
import { fanOut } from "../store/webhooks/fan-out.ts";
import { createDeliverer } from "../webhooks/deliverer.ts";
import { describeChange } from "@platform/engine/webhooks/message";
import { createAddressPolicy } from "@platform/engine/webhooks/outside-addresses";
import { createWebhooks } from "../webhooks/webhooks.ts";
import type { Shared } from "./shared.ts";

/** A receiver that has not answered by then is asked again later. */
const TIMEOUT_MS = 15 * SECOND;

/** Tells webhooks what becomes of executions: a part of the control role. */
export function startWebhooks({
  stores,
  secret,
  config,
  maintenance,
  executionStore,
  closers,
  logger,
}: Shared): void {
  const deliverer = createDeliverer({
    fanOut: () => fanOut(maintenance, describeChange),
    deliveries: stores.deliveries,
    webhooks: createWebhooks(stores.webhooks, secret),
    sender: { isAllowed: createAddressPolicy(config.webhookOpen), timeoutMs: TIMEOUT_MS },
    logger,
  });
  const unsubscribe = executionStore.subscribe(({ type }) => {
    if (type === "changed" || type === "reset") deliverer.announce();
  });
  closers.add("webhooks", async () => {
    unsubscribe();
    await deliverer.close();
  });
}
