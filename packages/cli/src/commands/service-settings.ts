import { defineCommand } from "../base/command.ts";
import { createUsageError } from "../base/errors.ts";
import { openSession } from "../base/session.ts";
import { findService } from "../project/find-service.ts";

const DAYS = { kind: "number", placeholder: "days", minimum: 0, maximum: 3650, isInteger: true } as const;

/** `platform services set`. */
export const setServiceCommand = defineCommand({
  name: "services set",
  summary: "Say for how long a service keeps results and logs",
  description: [
    "Holds for executions that are started from now on: those that were started before keep what they were started with. 0 takes a setting back: what the platform does for all services.",
    "Logs are not kept for longer than results. Without a service, that of the project in this folder.",
  ],
  arguments: { service: { description: "Name or key of the service", required: false } },
  options: {
    resultDays: { ...DAYS, description: "Days after their end for which executions and results are kept" },
    logDays: { ...DAYS, description: "The same for logs" },
  },
  examples: [
    { command: "platform services set tsp --result-days 60 --log-days 3", comment: "Results for longer" },
  ],
  run: async (context, { arguments: { service: given }, options: { resultDays, logDays } }) => {
    if (resultDays === undefined && logDays === undefined)
      throw createUsageError("There is nothing to set.", "Pass --result-days or --log-days.");
    const { client } = await openSession(context);
    const { key } = await findService(context, client, given);
    const service = await client.putService({
      params: { key },
      body: {
        ...(resultDays === undefined ? {} : { resultDays: resultDays === 0 ? null : resultDays }),
        ...(logDays === undefined ? {} : { logDays: logDays === 0 ? null : logDays }),
      },
    });
    context.output.print(`Results ${describeDays(service.resultDays)}`);
    const isCut = (service.logDays ?? 0) > (service.resultDays ?? Infinity);
    const cut = isCut ? ", but not for longer than results" : "";
    context.output.print(`Logs    ${describeDays(service.logDays)}${cut}`);
    return { json: service, succeeded: true };
  },
});

/** `platform services rm`. */
export const removeServiceCommand = defineCommand({
  name: "services rm",
  summary: "Delete a service that never had a version",
  description: [
    "As a first build leaves it that fails, with its secrets, variables, plans and listing. What has or had versions or subscriptions stays: 'platform retire' ends a version, 'platform unpublish' takes the service back.",
  ],
  arguments: { service: { description: "Name or key of the service", required: true } },
  options: {},
  examples: [{ command: "platform services rm tsp", comment: "Its name is free again" }],
  run: async (context, { arguments: { service: given } }) => {
    const { client } = await openSession(context);
    const service = await findService(context, client, given);
    await client.deleteService({ params: { key: service.key } });
    context.output.print(`Deleted ${service.name}.`);
    return { json: service, succeeded: true };
  },
});

function describeDays(days: number | null): string {
  if (days === null) return "as the platform keeps them";
  return days === 1 ? "1 day" : `${days} days`;
}
