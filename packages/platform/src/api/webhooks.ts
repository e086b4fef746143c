import { formatTimestamp } from "@platform/contract/execution";
import type { WEBHOOKS_API, Webhook, WebhookDelivery } from "@platform/contract/platform-api/webhooks";
import { Problem } from "@platform/contract/problems";
import { readPage } from "@platform/engine/http/paging";
import type { OperationHandlers } from "@platform/engine/http/types";
import type { DeliveryRecord } from "../store/webhooks/deliveries.ts";
import type { WebhookKey, WebhookRecord } from "../store/webhooks/webhooks.ts";
import type { Stores } from "../store/stores.ts";
import type { Webhooks } from "../webhooks/webhooks.ts";
import { describeTest } from "@platform/engine/webhooks/message";
import type { PlatformCaller } from "./caller.ts";

type Handlers = OperationHandlers<typeof WEBHOOKS_API, PlatformCaller>;

/** What the handlers work with. */
type Deps = Pick<Stores, "webhooks" | "deliveries"> & { readonly sealed: Webhooks };

const DEFAULT_OVERLAP_HOURS = 24;
const SECRET_HEADERS = { "cache-control": "no-store" };

/** Handlers of webhooks, and of what was sent to them. */
export function createWebhookHandlers(deps: Deps): Handlers {
  return { ...createOwnHandlers(deps), ...createSecretHandlers(deps), ...createDeliveryHandlers(deps) };
}

function createOwnHandlers({
  webhooks,
  sealed,
}: Deps): Pick<Handlers, "listWebhooks" | "getWebhook" | "putWebhook" | "deleteWebhook"> {
  return {
    listWebhooks: async ({ caller, params, query }) => {
      const scope = { organisationId: caller.organisationId, applicationId: params.id };
      const page = await webhooks.list(scope, readPage(query));
      if (page === null) throw noApplication();
      return { status: 200, body: { items: page.items.map(toWebhookBody), nextCursor: page.nextCursor } };
    },
    getWebhook: async ({ caller, params }) => ({
      status: 200,
      body: toWebhookBody(requireWebhook(await webhooks.find(toKey(caller, params)))),
    }),
    putWebhook: async ({ caller, params, body }) => ({
      status: 200,
      body: toWebhookBody(requireWebhook(await sealed.change(toKey(caller, params), body))),
    }),
    deleteWebhook: async ({ caller, params }) => {
      if (await webhooks.delete(toKey(caller, params))) return { status: 204 };
      throw noWebhook();
    },
  };
}

function createSecretHandlers({ sealed }: Deps): Pick<Handlers, "createWebhook" | "rotateWebhookSecret"> {
  return {
    createWebhook: async ({ caller, params, body }) => {
      const { organisationId, userId } = caller;
      const scope = { organisationId, applicationId: params.id };
      const created = await sealed.create(scope, { ...body, createdBy: userId });
      if (created === null) throw noApplication();
      return {
        status: 201,
        body: { ...toWebhookBody(created.webhook), secret: created.secret },
        headers: SECRET_HEADERS,
      };
    },
    rotateWebhookSecret: async ({ caller, params, body }) => {
      const hours = body.oldEndsInHours ?? DEFAULT_OVERLAP_HOURS;
      const { webhook, secret } = requireWebhook(await sealed.rotate(toKey(caller, params), hours));
      return { status: 200, body: { ...toWebhookBody(webhook), secret }, headers: SECRET_HEADERS };
    },
  };
}

function createDeliveryHandlers({
  deliveries,
}: Deps): Pick<Handlers, "testWebhook" | "listWebhookDeliveries" | "redeliverWebhook"> {
  return {
    testWebhook: async ({ caller, params }) => {
      const added = await deliveries.addTest(toKey(caller, params), () => describeTest(Date.now()));
      return { status: 201, body: toDeliveryBody(requireWebhook(added)) };
    },
    listWebhookDeliveries: async ({ caller, params, query }) => {
      const status = query.status;
      const page = requireWebhook(
        await deliveries.list(toKey(caller, params), { ...readPage(query), status }),
      );
      return { status: 200, body: { items: page.items.map(toDeliveryBody), nextCursor: page.nextCursor } };
    },
    redeliverWebhook: async ({ caller, params }) => {
      const delivery = await deliveries.redeliver(toKey(caller, params), params.deliveryId);
      if (delivery === null) throw new Problem("NOT_FOUND", "There is no such message to such a webhook.");
      return { status: 200, body: toDeliveryBody(delivery) };
    },
  };
}

/** @throws Problem NOT_FOUND */
function requireWebhook<T>(found: T | null): T {
  if (found === null) throw noWebhook();
  return found;
}

function noApplication(): Problem {
  return new Problem("NOT_FOUND", "There is no such application.");
}

function noWebhook(): Problem {
  return new Problem("NOT_FOUND", "There is no such webhook of such an application.");
}

function toKey(
  { organisationId }: PlatformCaller,
  { id, webhookId }: { readonly id: string; readonly webhookId: string },
): WebhookKey {
  return { organisationId, applicationId: id, webhookId };
}

function toWebhookBody({ id, url, events, isPaused, waiting, ...times }: WebhookRecord): Webhook {
  return {
    id,
    url,
    events: [...events],
    isPaused,
    createdAt: formatTimestamp(times.createdAt),
    formerSecretUntil: times.formerSecretUntil === null ? null : formatTimestamp(times.formerSecretUntil),
    waiting,
  };
}

function toDeliveryBody({ attempts, createdAt, nextAt, url, ...delivery }: DeliveryRecord): WebhookDelivery {
  return {
    ...delivery,
    // The rest may have secrets of whoever has started the execution.
    origin: url === null ? null : new URL(url).origin,
    nextAt: nextAt === null ? null : formatTimestamp(nextAt),
    createdAt: formatTimestamp(createdAt),
    attempts: attempts.map(({ at, status, failure, durationMs }) => ({
      at: formatTimestamp(at),
      status,
      failure,
      durationMs,
    })),
  };
}
