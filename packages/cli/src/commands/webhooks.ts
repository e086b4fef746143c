import { WEBHOOK_EVENTS } from "@platform/contract/platform-api/webhooks";
import type { Webhook, WebhookDelivery, WebhookEvent } from "@platform/contract/platform-api/webhooks";
import type { CommandContext } from "../base/context.ts";
import { defineCommand } from "../base/command.ts";
import { UserError } from "../base/errors.ts";
import { cleanText } from "../base/output.ts";
import { openSession, readAllPages } from "../base/session.ts";
import { findApplication } from "../project/find-application.ts";

/** The platform's word for the jobs of the organisation, in place of an application. */
const JOBS = "jobs";
const APPLICATION = {
  description: `Id or name of the application; ${JOBS}: the jobs of the organisation`,
  required: true,
} as const;
const WEBHOOK = {
  description: "Id of the webhook, as 'platform webhooks ls' shows it",
  required: true,
} as const;
const NAMES = WEBHOOK_EVENTS.map((event) => event.replace("execution.", ""));
const EVENTS = {
  kind: "text",
  placeholder: "events",
  description: `Of which it is told, separated by commas: ${NAMES.join(", ")}`,
} as const;
const ID = "0198c1de-7a53-7000-8000-000000000000";
/** Messages that are shown. */
const SHOWN = 50;

/** `platform webhooks ls`. */
export const listWebhooksCommand = defineCommand({
  name: "webhooks ls",
  summary: "List the webhooks of an application, without their secrets",
  description: ["URLs that are told what becomes of the executions that the application starts."],
  arguments: { application: APPLICATION },
  options: {},
  examples: [{ command: "platform webhooks ls shop", comment: "A table" }],
  run: async (context, { arguments: { application } }) => {
    const { client, id } = await open(context, application);
    const webhooks = await readAllPages((query) => client.listWebhooks({ params: { id }, query }));
    context.output.printTable(
      ["URL", "EVENTS", "STATE", "WAITING", "ID"],
      webhooks.map((one) => [
        nameUrl(one),
        nameEvents(one),
        one.isPaused ? "paused" : "active",
        String(one.waiting),
        one.id,
      ]),
      "No webhooks yet. Make one with 'platform webhooks create'.",
    );
    return { json: webhooks, succeeded: true };
  },
});

/** `platform webhooks create`. */
export const createWebhookCommand = defineCommand({
  name: "webhooks create",
  summary: "Have a URL told what becomes of an application's executions, and print its secret once",
  description: [
    "Messages are signed with the secret, by Standard Webhooks; without --events for the three final states.",
    "Without a URL it is the webhook of starts: its secret signs messages to the URLs that starts name as webhookUrl ('platform run --webhook'). The first such start makes it as well; 'platform webhooks rotate' gives it a secret that you know.",
  ],
  arguments: { application: APPLICATION, url: { description: "URL of https or http", required: false } },
  options: { events: EVENTS },
  examples: [
    {
      command: "platform webhooks create shop https://example.org/hook",
      comment: "When executions have ended",
    },
    {
      command: "platform webhooks create shop https://example.org/hook --events failed,unknown",
      comment: "When they did not succeed",
    },
  ],
  run: async (context, { arguments: { application, url }, options: { events } }) => {
    const { client, id } = await open(context, application);
    const body = {
      ...(url === undefined ? {} : { url }),
      ...(events === undefined ? {} : { events: readEvents(events) }),
    };
    const created = await client.createWebhook({ params: { id }, body });
    context.output.print(`Created ${created.id}, told of ${nameEvents(created)}.`);
    context.output.print(`Secret ${created.secret}`);
    return { json: created, succeeded: true };
  },
});

/** `platform webhooks set`. */
export const setWebhookCommand = defineCommand({
  name: "webhooks set",
  summary: "Change the URL or the events of a webhook, pause it, or resume it",
  description: ["What happens while it is paused is not sent later; messages that wait are."],
  arguments: { application: APPLICATION, webhook: WEBHOOK },
  options: {
    url: { kind: "text", placeholder: "url", description: "URL of https or http" },
    events: EVENTS,
    state: {
      kind: "text",
      placeholder: "state",
      description: "active or paused",
      choices: ["active", "paused"],
    },
  },
  examples: [{ command: `platform webhooks set shop ${ID} --state paused`, comment: "Send nothing for now" }],
  run: async (context, { arguments: { application, webhook }, options: { url, events, state } }) => {
    const { client, id } = await open(context, application);
    const body = {
      ...(url === undefined ? {} : { url }),
      ...(events === undefined ? {} : { events: readEvents(events) }),
      ...(state === undefined ? {} : { isPaused: state === "paused" }),
    };
    const changed = await client.putWebhook({ params: { id, webhookId: webhook }, body });
    context.output.print(
      `${nameUrl(changed)} is ${changed.isPaused ? "paused" : "active"}, told of ${nameEvents(changed)}.`,
    );
    return { json: changed, succeeded: true };
  },
});

/** `platform webhooks rotate`. */
export const rotateWebhookCommand = defineCommand({
  name: "webhooks rotate",
  summary: "Give a webhook a new secret, and print it once",
  description: ["Messages are signed with the former secret as well for a while."],
  arguments: { application: APPLICATION, webhook: WEBHOOK },
  options: {
    overlap: {
      kind: "number",
      placeholder: "hours",
      minimum: 0,
      maximum: 168,
      isInteger: true,
      description: "For how many hours the former secret signs too (default: 24)",
    },
  },
  examples: [
    { command: `platform webhooks rotate shop ${ID} --overlap 0`, comment: "The former one has leaked" },
  ],
  run: async (context, { arguments: { application, webhook }, options: { overlap } }) => {
    const { client, id } = await open(context, application);
    const body = overlap === undefined ? {} : { oldEndsInHours: overlap };
    const changed = await client.rotateWebhookSecret({ params: { id, webhookId: webhook }, body });
    context.output.print(`Secret ${changed.secret}`);
    return { json: changed, succeeded: true };
  },
});

/** `platform webhooks test`. */
export const testWebhookCommand = defineCommand({
  name: "webhooks test",
  summary: "Send a test message to a webhook",
  description: ["'platform webhooks deliveries' shows what became of it."],
  arguments: { application: APPLICATION, webhook: WEBHOOK },
  options: {},
  examples: [{ command: `platform webhooks test shop ${ID}`, comment: "The event is called test" }],
  run: async (context, { arguments: { application, webhook } }) => {
    const { client, id } = await open(context, application);
    const delivery = await client.testWebhook({ params: { id, webhookId: webhook } });
    context.output.print(`Sending ${delivery.id}.`);
    return { json: delivery, succeeded: true };
  },
});

/** `platform webhooks deliveries`. */
export const showDeliveriesCommand = defineCommand({
  name: "webhooks deliveries",
  summary: `List the last ${SHOWN} messages to a webhook, and what became of them`,
  description: ["Newest first. Messages are kept for seven days."],
  arguments: { application: APPLICATION, webhook: WEBHOOK },
  options: {
    status: {
      kind: "text",
      placeholder: "status",
      description: "Only messages with this status",
      choices: ["PENDING", "DELIVERED", "FAILED"],
    },
  },
  examples: [
    { command: `platform webhooks deliveries shop ${ID} --status FAILED`, comment: "What was given up" },
  ],
  run: async (context, { arguments: { application, webhook }, options: { status } }) => {
    const { client, id } = await open(context, application);
    const chosen = (["PENDING", "DELIVERED", "FAILED"] as const).find((one) => one === status);
    const query = { limit: SHOWN, ...(chosen === undefined ? {} : { status: chosen }) };
    const { items } = await client.listWebhookDeliveries({ params: { id, webhookId: webhook }, query });
    context.output.printTable(
      ["CREATED", "EVENT", "STATUS", "TRIES", "LAST TRY", "EXECUTION", "ID"],
      items.map((one) => [
        one.createdAt,
        one.event,
        one.status,
        String(one.tries),
        describeLast(one),
        one.executionId ?? "-",
        one.id,
      ]),
      "No messages yet. 'platform webhooks test' sends one.",
    );
    return { json: items, succeeded: true };
  },
});

/** `platform webhooks redeliver`. */
export const redeliverWebhookCommand = defineCommand({
  name: "webhooks redeliver",
  summary: "Send a message to a webhook again",
  description: ["At once, with the same id, also one that was delivered."],
  arguments: {
    application: APPLICATION,
    webhook: WEBHOOK,
    message: { description: "Id of the message, as 'platform webhooks deliveries' shows it", required: true },
  },
  options: {},
  examples: [{ command: `platform webhooks redeliver shop ${ID} ${ID}`, comment: "By its id" }],
  run: async (context, { arguments: { application, webhook, message } }) => {
    const { client, id } = await open(context, application);
    const params = { id, webhookId: webhook, deliveryId: message };
    const delivery = await client.redeliverWebhook({ params });
    context.output.print(`Sending ${delivery.id} again.`);
    return { json: delivery, succeeded: true };
  },
});

/** `platform webhooks rm`. */
export const removeWebhookCommand = defineCommand({
  name: "webhooks rm",
  summary: "Delete a webhook, with the messages that wait",
  description: [],
  arguments: { application: APPLICATION, webhook: WEBHOOK },
  options: {},
  examples: [{ command: `platform webhooks rm shop ${ID}`, comment: "By its id" }],
  run: async (context, { arguments: { application, webhook } }) => {
    const { client, id } = await open(context, application);
    await client.deleteWebhook({ params: { id, webhookId: webhook } });
    context.output.print("Deleted.");
    return { json: { id: webhook, deleted: true }, succeeded: true };
  },
});

async function open(context: CommandContext, application: string) {
  const { client } = await openSession(context);
  const { id } = application === JOBS ? { id: JOBS } : await findApplication(client, application);
  return { client, id };
}

function nameUrl({ url }: Pick<Webhook, "url">): string {
  return url === null ? "those of starts" : cleanText(url);
}

function nameEvents({ events }: Pick<Webhook, "events">): string {
  return events.map((event) => event.replace("execution.", "")).join(", ");
}

/** @throws UserError INPUT_INVALID */
function readEvents(text: string): WebhookEvent[] {
  return text.split(",").map((name) => {
    const event = WEBHOOK_EVENTS.find((one) => one === `execution.${name.trim()}`);
    if (event !== undefined) return event;
    throw new UserError("INPUT_INVALID", `--events has '${name}', which is none of: ${NAMES.join(", ")}.`);
  });
}

function describeLast({ attempts }: WebhookDelivery): string {
  const last = attempts.at(-1);
  if (last === undefined) return "-";
  return last.status === null ? cleanText(last.failure ?? "") : `HTTP ${last.status}`;
}
