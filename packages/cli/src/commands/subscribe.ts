import { defineCommand } from "../base/command.ts";
import { openSession } from "../base/session.ts";
import { findApplication } from "../project/find-application.ts";
import { findListedService } from "../project/find-listed-service.ts";

/** `platform subscribe`: lets an application call a service, and prints its endpoint URL. */
export const subscribeCommand = defineCommand({
  name: "subscribe",
  summary: "Subscribe an application to a service",
  description: [
    "Prints the endpoint URL. 'platform marketplace search' lists services.",
    "A plan is needed for a service of another organisation, unless it has one free plan. What costs something is never chosen unasked.",
  ],
  arguments: {
    service: { description: "Name or key of the service", required: true },
    application: { description: "Id or name of the application", required: true },
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
      command: "platform subscribe tsp shop --plan pro",
      comment: "On the terms of a plan",
    },
    {
      command: "platform subscribe 0198c1de-7a53-4000-8000-000000000001 shop",
      comment: "By its key, where several services have the name",
    },
  ],
  run: async (context, { arguments: { service, application }, options }) => {
    const { client } = await openSession(context);
    const { plan, version } = options;
    const serviceKey = await findListedService(client, service);
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
