import { defineCommand } from "../base/command.ts";
import { openSession } from "../base/session.ts";
import { findApplication } from "../project/find-application.ts";

/** `platform subscribe`: lets an application call a service, and prints its endpoint URL. */
export const subscribeCommand = defineCommand({
  name: "subscribe",
  summary: "Subscribe an application to a service",
  description: [
    "Prints the endpoint URL. 'platform marketplace search' lists services with their keys.",
    "A plan is needed for a service of another organisation, unless it has one free plan. What costs something is never chosen unasked.",
  ],
  arguments: {
    service: { description: "Key of the service", required: true },
    application: { description: "Name or id of the application", required: true },
  },
  options: {
    plan: { kind: "text", placeholder: "plan", description: "Plan of the service" },
    version: {
      kind: "text",
      placeholder: "version",
      description:
        "Version of the endpoint URL: 1.2.0 pins it, 1 follows this major number; default: the highest",
    },
  },
  examples: [
    {
      command: "platform subscribe 0198c1de-7a53-4000-8000-000000000001 shop --plan pro",
      comment: "On the terms of a plan",
    },
  ],
  run: async (context, { arguments: { service: serviceKey, application }, options }) => {
    const { client } = await openSession(context);
    const { plan, version } = options;
    const { id: applicationId } = await findApplication(client, application);
    const body = {
      applicationId,
      serviceKey,
      ...(plan === undefined ? {} : { planId: plan }),
      ...(version === undefined ? {} : { version }),
    };
    const subscription = await client.createSubscription({ body });
    context.output.print(subscription.endpointUrl ?? "The service has no live version yet.");
    context.output.note(
      `Subscribed to ${subscription.serviceName}${subscription.plan === null ? "" : ` with the plan ${subscription.plan.id}`}: ${subscription.id}.`,
    );
    return { json: subscription, succeeded: true };
  },
});
