import { parseExactNumbers } from "@platform/contract/exact-number";
import { OVERLAPS } from "@platform/contract/platform-api/schedules";
import type { Schedule, ScheduleDetails, ScheduleRun } from "@platform/contract/platform-api/schedules";
import { isRecord } from "@platform/engine/base/json";
import type { CommandContext } from "../base/context.ts";
import { defineCommand } from "../base/command.ts";
import { UserError, createUsageError } from "../base/errors.ts";
import { cleanText } from "../base/output.ts";
import { openSession, readAllPages } from "../base/session.ts";
import type { PlatformClient } from "../base/session.ts";
import { buildStartBody } from "../jobs/job-input.ts";
import { findService } from "../project/find-service.ts";

const SCHEDULE = { description: "Name or id of the schedule", required: true } as const;
/** Runs that are shown. */
const SHOWN = 20;

const TIMES = {
  zone: {
    kind: "text",
    placeholder: "zone",
    description: "IANA name of the time zone of the fields, such as Europe/Berlin",
  },
  overlap: {
    kind: "text",
    placeholder: "how",
    description: "While the last execution has not ended: skip the occurrence, or queue another execution",
    choices: OVERLAPS,
  },
} as const;

const INPUT = {
  data: { kind: "text", short: "d", placeholder: "json", description: "Input data as a JSON object" },
  params: { kind: "text", short: "p", placeholder: "json", description: "Parameters as a JSON object" },
  dataFile: { kind: "text", placeholder: "file", description: "File with the input data" },
  paramsFile: { kind: "text", placeholder: "file", description: "File with the parameters" },
} as const;

/** `platform schedules ls`. */
export const listSchedulesCommand = defineCommand({
  name: "schedules ls",
  isDefault: true,
  summary: "List what starts executions at times of a calendar",
  description: ["NEXT is in the time zone of the schedule."],
  arguments: {},
  options: {},
  examples: [{ command: "platform schedules ls", comment: "A table" }],
  run: async (context) => {
    const { client } = await openSession(context);
    const schedules = await readAllPages((query) => client.listSchedules({ query }));
    context.output.printTable(
      ["NAME", "TIMES", "ZONE", "NEXT", "LAST RUN", "ID"],
      schedules.map((one) => [
        cleanText(one.name),
        cleanText(one.cron),
        cleanText(one.timeZone),
        one.nextAt === null ? describePause(one) : showInZone(one.nextAt, one.timeZone),
        one.lastRun === null ? "-" : `${one.lastRun.status} ${showInZone(one.lastRun.dueAt, one.timeZone)}`,
        one.id,
      ]),
      "No schedules yet. Make one with 'platform schedules create'.",
    );
    return { json: schedules, succeeded: true };
  },
});

/** `platform schedules create`. */
export const createScheduleCommand = defineCommand({
  name: "schedules create",
  summary: "Start a service at times of a calendar, as jobs or for a subscription",
  description: [
    "The times are five fields: minute, hour, day of the month, month, day of the week; or @hourly, @daily, @weekly, @monthly, @yearly.",
    "Without --data and --data-file, the input is input/data.json, and {} if that file does not exist; params likewise.",
    "Each occurrence is started exactly once. What was missed while the platform did not run is not made up for, except for the last occurrence, within an hour.",
  ],
  arguments: {
    name: { description: "Name of the schedule", required: true },
    cron: { description: "When it is due", required: true },
    service: {
      description: "Name or key of the service (default: the project in this folder)",
      required: false,
    },
  },
  options: {
    version: {
      kind: "text",
      placeholder: "X.Y.Z",
      description: "Version to run, or its major number alone (default: the latest live version)",
    },
    subscription: {
      kind: "text",
      placeholder: "id",
      description: "Start for this subscription instead, as 'platform subscriptions ls' shows it",
    },
    ...TIMES,
    ...INPUT,
    paused: { kind: "flag", description: "Make it, and start nothing yet" },
  },
  exclusive: [
    ["data", "dataFile"],
    ["params", "paramsFile"],
    ["version", "subscription"],
  ],
  examples: [
    {
      command: `platform schedules create nightly "30 2 * * *" tsp --zone Europe/Berlin -d '{"n": 5}'`,
      comment: "Half past two, every night",
    },
    {
      command: 'platform schedules create often "*/5 * * * MON-FRI" tsp --version 1 --overlap queue',
      comment: "Whether or not the last one has ended",
    },
  ],
  run: async (context, { arguments: { name, cron, service }, options }) => {
    if (options.subscription !== undefined && service !== undefined)
      throw createUsageError("--subscription names what is started; leave the service out.");
    const body = readBody((await buildStartBody(context, options)).json);
    const { client } = await openSession(context);
    const target =
      options.subscription === undefined
        ? {
            serviceKey: (await findService(context, client, service)).key,
            ...(options.version === undefined ? {} : { version: options.version }),
          }
        : { subscriptionId: options.subscription };
    const created = await client.createSchedule({
      body: { name, cron, target, body, ...readTimes(options), enabled: !options.paused },
    });
    context.output.print(`Created ${created.id}.`);
    printTimes(context, created);
    return { json: created, succeeded: true };
  },
});

/** `platform schedules show`. */
export const showScheduleCommand = defineCommand({
  name: "schedules show",
  summary: `Show a schedule: what it starts, when it is due, its last ${SHOWN} runs`,
  description: ["Times are in the time zone of the schedule."],
  arguments: { schedule: SCHEDULE },
  options: {},
  examples: [{ command: "platform schedules show nightly", comment: "By its name" }],
  run: async (context, { arguments: { schedule } }) => {
    const { client } = await openSession(context);
    const params = { id: (await findSchedule(client, schedule)).id };
    const found = await client.getSchedule({ params });
    const runs = await client.listScheduleRuns({ params, query: { limit: SHOWN } });
    printDetails(context, found);
    printTimes(context, found);
    printRuns(context, found, runs.items);
    return { json: { ...found, runs: runs.items }, succeeded: true };
  },
});

/** `platform schedules set`. */
export const setScheduleCommand = defineCommand({
  name: "schedules set",
  summary: "Change when a schedule is due, or what happens while the last execution has not ended",
  description: ["What is left out stays."],
  arguments: { schedule: SCHEDULE },
  options: {
    cron: { kind: "text", placeholder: "times", description: "When it is due" },
    ...TIMES,
  },
  examples: [{ command: 'platform schedules set nightly --cron "0 4 * * *"', comment: "At four" }],
  run: async (context, { arguments: { schedule }, options }) => {
    const { client } = await openSession(context);
    const params = { id: (await findSchedule(client, schedule)).id };
    const body = { ...(options.cron === undefined ? {} : { cron: options.cron }), ...readTimes(options) };
    if (Object.keys(body).length === 0) throw createUsageError("Say what to change.");
    const changed = await client.putSchedule({ params, body });
    printTimes(context, changed);
    return { json: changed, succeeded: true };
  },
});

/** `platform schedules pause`. */
export const pauseScheduleCommand = defineCommand({
  name: "schedules pause",
  summary: "Have a schedule start nothing until it is resumed",
  description: ["What it has started goes on."],
  arguments: { schedule: SCHEDULE },
  options: {},
  examples: [{ command: "platform schedules pause nightly", comment: "By its name" }],
  run: (context, { arguments: { schedule } }) => enable(context, schedule, false),
});

/** `platform schedules resume`. */
export const resumeScheduleCommand = defineCommand({
  name: "schedules resume",
  summary: "Resume a schedule that is paused",
  description: ["What was due meanwhile is not started."],
  arguments: { schedule: SCHEDULE },
  options: {},
  examples: [{ command: "platform schedules resume nightly", comment: "By its name" }],
  run: (context, { arguments: { schedule } }) => enable(context, schedule, true),
});

/** `platform schedules run`: fails when it was refused. */
export const runScheduleCommand = defineCommand({
  name: "schedules run",
  summary: "Start what a schedule starts, now",
  description: ["Also while it is paused, and while the last one has not ended."],
  arguments: { schedule: SCHEDULE },
  options: {},
  examples: [{ command: "platform schedules run nightly", comment: "To try it" }],
  run: async (context, { arguments: { schedule } }) => {
    const { client } = await openSession(context);
    const params = { id: (await findSchedule(client, schedule)).id };
    const made = await client.runSchedule({ params });
    context.output.print(
      made.executionId === null
        ? "It is started as soon as that is possible."
        : `Started ${made.executionId}.`,
    );
    return { json: made, succeeded: true };
  },
});

/** `platform schedules rm`. */
export const removeScheduleCommand = defineCommand({
  name: "schedules rm",
  summary: "Delete a schedule, with the list of its runs",
  description: ["What it has started stays."],
  arguments: { schedule: SCHEDULE },
  options: {},
  examples: [{ command: "platform schedules rm nightly", comment: "By its name" }],
  run: async (context, { arguments: { schedule } }) => {
    const { client } = await openSession(context);
    const { id } = await findSchedule(client, schedule);
    await client.deleteSchedule({ params: { id } });
    context.output.print("Deleted.");
    return { json: { id, deleted: true }, succeeded: true };
  },
});

async function enable(context: CommandContext, schedule: string, enabled: boolean) {
  const { client } = await openSession(context);
  const params = { id: (await findSchedule(client, schedule)).id };
  const changed = await client.putSchedule({ params, body: { enabled } });
  if (enabled) printTimes(context, changed);
  else context.output.print("Paused.");
  return { json: changed, succeeded: true };
}

/** @throws UserError SCHEDULE_NOT_FOUND */
async function findSchedule(client: PlatformClient, wanted: string): Promise<Schedule> {
  const schedules = await readAllPages((query) => client.listSchedules({ query }));
  const found = schedules.find(({ id }) => id === wanted) ?? schedules.find(({ name }) => name === wanted);
  if (found !== undefined) return found;
  throw new UserError("SCHEDULE_NOT_FOUND", `There is no schedule '${wanted}' in this organisation.`, {
    hint: "'platform schedules create' makes one; 'platform whoami' shows the organisation.",
    details: schedules.map(({ id, name }) => `${cleanText(name)} (${id})`),
  });
}

/** Of texts that are known to be JSON objects. */
function readBody(json: string): Record<string, unknown> {
  const body = parseExactNumbers(json);
  return isRecord(body) ? { ...body } : {};
}

function readTimes({
  zone,
  overlap,
}: {
  readonly zone: string | undefined;
  readonly overlap: string | undefined;
}) {
  const chosen = OVERLAPS.find((one) => one === overlap);
  return {
    ...(zone === undefined ? {} : { timeZone: zone }),
    ...(chosen === undefined ? {} : { overlap: chosen }),
  };
}

function printDetails({ output }: CommandContext, schedule: ScheduleDetails): void {
  const { name, id, cron, timeZone, overlap, target, body } = schedule;
  output.print(`Schedule  ${cleanText(name)} (${id})`);
  output.print(`Times     ${cleanText(cron)} (${cleanText(timeZone)}), ${overlap} on overlap`);
  output.print(
    target.subscriptionId === undefined
      ? `Starts    jobs of ${target.serviceKey ?? "-"}, version ${target.version ?? "latest"}`
      : `Starts    executions of the subscription ${target.subscriptionId}`,
  );
  output.print(`Input     ${cleanText(JSON.stringify(body))}`);
}

function printTimes({ output }: CommandContext, schedule: ScheduleDetails): void {
  const { nextTimes, timeZone } = schedule;
  if (nextTimes.length === 0) output.print(`Next      ${describePause(schedule)}`);
  nextTimes.forEach((time, index) =>
    output.print(`${index === 0 ? "Next      " : "          "}${showInZone(time, timeZone)}`),
  );
}

function printRuns({ output }: CommandContext, { timeZone }: Schedule, runs: readonly ScheduleRun[]): void {
  output.print("");
  output.printTable(
    ["DUE", "STATUS", "EXECUTION", "WHY"],
    runs.map((run) => [
      showInZone(run.dueAt, timeZone),
      run.trigger === "MANUAL" ? `${run.status} (manual)` : run.status,
      run.executionId ?? "-",
      cleanText([run.code, run.detail].filter((part) => part !== null).join(": ")),
    ]),
    "No runs yet.",
  );
}

function describePause({ pause }: Pick<Schedule, "pause">): string {
  return pause === null ? "paused" : `paused: ${pause.code}, ${cleanText(pause.detail)}`;
}

/** A time of the platform on the clock of a zone. */
function showInZone(time: string, timeZone: string): string {
  const options = { timeZone, dateStyle: "short", timeStyle: "short", hourCycle: "h23" } as const;
  try {
    // The parts of this locale are YYYY-MM-DD and HH:MM.
    const shown = new Intl.DateTimeFormat("sv-SE", options).format(new Date(`${time.replace(" ", "T")}Z`));
    return `${shown} ${cleanText(timeZone)}`;
  } catch {
    // A zone that the platform knows and this program does not.
    return `${time} UTC`;
  }
}
