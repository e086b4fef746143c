import { formatTimestamp } from "@platform/contract/execution";
import type {
  SCHEDULES_API,
  Schedule,
  ScheduleDetails,
  ScheduleRun,
} from "@platform/contract/platform-api/schedules";
import { can } from "@platform/contract/permissions";
import { DATA_POOLS_API } from "@platform/contract/platform-api/data-pools";
import { MAX_SCHEDULE_BODY_BYTES } from "@platform/contract/platform-api/schedules";
import { Problem } from "@platform/contract/problems";
import { isRecord } from "@platform/engine/base/json";
import { parseExactNumbers } from "@platform/contract/exact-number";
import { acceptStartBody } from "@platform/engine/executions/start-body";
import { readPage } from "@platform/engine/http/paging";
import type { OperationHandlers } from "@platform/engine/http/types";
import { TimesError, requireTimes } from "../schedules/cron.ts";
import { findNext } from "../schedules/decide.ts";
import { LEASE_SECONDS, startRun } from "../schedules/settle-run.ts";
import type { RunStarter } from "../schedules/start-run.ts";
import type { RunRecord } from "../store/schedules/run-columns.ts";
import type { GivenSchedule, ScheduleRecord, StoredTarget } from "../store/schedules/schedules.ts";
import type { Stores } from "../store/stores.ts";
import type { PlatformCaller } from "./caller.ts";

type Handlers = OperationHandlers<typeof SCHEDULES_API, PlatformCaller>;
type CreateBody = Parameters<Handlers["createSchedule"]>[0]["body"];
type Given = Partial<CreateBody>;

/** What the handlers work with. */
export interface ScheduleDeps extends Pick<Stores, "schedules" | "scheduleRuns"> {
  readonly starter: RunStarter;
}

/** Occurrences that are shown. */
const SHOWN_TIMES = 5;

/** Handlers of schedules, and of what they have started. */
export function createScheduleHandlers(deps: ScheduleDeps): Handlers {
  return { ...createReaders(deps), ...createWriters(deps), ...createRunHandlers(deps) };
}

function createReaders({
  schedules,
}: ScheduleDeps): Pick<Handlers, "listSchedules" | "getSchedule" | "deleteSchedule"> {
  return {
    listSchedules: async ({ caller, query }) => {
      const { items, nextCursor } = await schedules.list(caller.organisationId, readPage(query));
      return { status: 200, body: { items: items.map(toScheduleBody), nextCursor } };
    },
    getSchedule: async ({ caller, params }) => {
      const found = await schedules.find({ organisationId: caller.organisationId, id: params.id });
      return { status: 200, body: toDetails(requireSchedule(found)) };
    },
    deleteSchedule: async ({ caller, params }) => {
      if (await schedules.delete({ organisationId: caller.organisationId, id: params.id }))
        return { status: 204 };
      throw noSchedule();
    },
  };
}

function createWriters({
  schedules,
  starter,
}: ScheduleDeps): Pick<Handlers, "createSchedule" | "putSchedule"> {
  return {
    createSchedule: async ({ caller: { organisationId, userId }, body }) => {
      const { timeZone = "UTC", overlap = "skip", enabled } = body;
      checkTimes(body.cron, timeZone);
      const text = readBody(body.body ?? {});
      const target = readTarget(body.target);
      await starter.findTarget(organisationId, target);
      const given = { name: body.name, cron: body.cron, timeZone, overlap, body: text, ...target };
      const created = await schedules.create(organisationId, given, { by: userId, enabled, findNext });
      if (created === "name taken") throw nameTaken(body.name);
      return { status: 201, body: toDetails(created) };
    },
    putSchedule: async ({ caller: { organisationId, userId }, params, body }) => {
      const key = { organisationId, id: params.id };
      const former = requireSchedule(await schedules.find(key));
      if (body.cron !== undefined || body.timeZone !== undefined || body.enabled === true)
        checkTimes(body.cron ?? former.cron, body.timeZone ?? former.timeZone);
      const change = readChange(body);
      if (change.serviceKey !== undefined) await starter.findTarget(organisationId, { ...former, ...change });
      const changed = await schedules.change(key, change, { by: userId, enabled: body.enabled, findNext });
      if (changed === "name taken") throw nameTaken(body.name ?? former.name);
      return { status: 200, body: toDetails(requireSchedule(changed)) };
    },
  };
}

function createRunHandlers({
  scheduleRuns: runs,
  starter,
}: ScheduleDeps): Pick<Handlers, "runSchedule" | "listScheduleRuns"> {
  return {
    runSchedule: async ({ caller: { organisationId, userId, actor }, params }) => {
      const asker = { userId, mayEdit: can(actor, DATA_POOLS_API.putPoolFile) };
      const key = { organisationId, id: params.id };
      const claim = requireSchedule(await runs.addManual(key, asker, LEASE_SECONDS));
      // Where that fails, it is tried again: what is asked for is written.
      const refusal = await startRun({ runs, starter }, claim).catch(() => null);
      if (refusal !== null) throw refusal;
      return { status: 201, body: toRunBody(requireSchedule(await runs.find(claim.id))) };
    },
    listScheduleRuns: async ({ caller: { organisationId }, params, query }) => {
      const page = requireSchedule(await runs.list({ organisationId, id: params.id }, readPage(query)));
      return { status: 200, body: { items: page.items.map(toRunBody), nextCursor: page.nextCursor } };
    },
  };
}

function readChange({ name, cron, timeZone, overlap, body, target }: Given): Partial<GivenSchedule> {
  return {
    ...(name === undefined ? {} : { name }),
    ...(cron === undefined ? {} : { cron }),
    ...(timeZone === undefined ? {} : { timeZone }),
    ...(overlap === undefined ? {} : { overlap }),
    ...(body === undefined ? {} : { body: readBody(body) }),
    ...(target === undefined ? {} : readTarget(target)),
  };
}

/** @throws Problem INVALID_INPUT */
function checkTimes(cron: string, timeZone: string): void {
  try {
    requireTimes(cron, timeZone, Date.now());
  } catch (error) {
    if (!(error instanceof TimesError)) throw error;
    throw refuse(`/${error.field}`, error.message);
  }
}

/** @throws Problem INVALID_INPUT */
function readTarget({ serviceKey, version, subscriptionId }: CreateBody["target"]): StoredTarget {
  if ((serviceKey === undefined) === (subscriptionId === undefined))
    throw refuse("/target", "The target is either a serviceKey or a subscriptionId.");
  if (subscriptionId !== undefined && version !== undefined)
    throw refuse("/target/version", "The version of a subscription is the one that it names.");
  return {
    serviceKey: serviceKey ?? null,
    version: version ?? null,
    subscriptionId: subscriptionId ?? null,
  };
}

/** What is stored is what was checked. @throws Problem INVALID_INPUT, INPUT_TOO_LARGE, DATA_REFERENCE_INVALID */
function readBody(body: Readonly<Record<string, unknown>>): string {
  const text = JSON.stringify(body);
  const bytes = Buffer.from(text);
  if (bytes.length > MAX_SCHEDULE_BODY_BYTES)
    throw new Problem(
      "INPUT_TOO_LARGE",
      `"body" has ${bytes.length} bytes; at most ${MAX_SCHEDULE_BODY_BYTES} are accepted. Pass larger input by reference with dataRef or paramsRef.`,
    );
  // Until that one moment all occurrences would wait, by the thousand with overlap queue; after it, it says nothing.
  if (Object.hasOwn(body, "startAt"))
    throw refuse("/body/startAt", 'The times of the schedule say when to start; leave out "startAt".');
  try {
    acceptStartBody(bytes);
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    const errors = error.errors?.map(({ path, message }) => ({ path: `/body${path}`, message }));
    throw new Problem(error.code, error.message, {
      cause: error,
      errors: errors ?? [{ path: "/body", message: error.message }],
    });
  }
  return text;
}

function refuse(path: string, message: string): Problem {
  return new Problem("INVALID_INPUT", message, { errors: [{ path, message }] });
}

function nameTaken(name: string): Problem {
  return new Problem("CONFLICT", `The organisation has a schedule named ${name} already.`);
}

/** @throws Problem NOT_FOUND */
function requireSchedule<T>(found: T | null): T {
  if (found === null) throw noSchedule();
  return found;
}

function noSchedule(): Problem {
  return new Problem("NOT_FOUND", "There is no such schedule.");
}

function toScheduleBody(schedule: ScheduleRecord): Schedule {
  const { id, name, cron, timeZone, overlap, nextAt, pause, lastRun, createdAt } = schedule;
  return {
    id,
    name,
    cron,
    timeZone,
    overlap,
    target: toTargetBody(schedule),
    enabled: nextAt !== null,
    pause: pause === null ? null : { ...pause, at: formatTimestamp(pause.at) },
    nextAt: nextAt === null ? null : formatTimestamp(nextAt),
    lastRun: lastRun === null ? null : toRunBody(lastRun),
    createdAt: formatTimestamp(createdAt),
  };
}

function toTargetBody({ serviceKey, version, subscriptionId }: StoredTarget): Schedule["target"] {
  return {
    ...(serviceKey === null ? {} : { serviceKey }),
    ...(version === null ? {} : { version }),
    ...(subscriptionId === null ? {} : { subscriptionId }),
  };
}

function toDetails(schedule: ScheduleRecord): ScheduleDetails {
  const body = parseExactNumbers(schedule.body);
  if (!isRecord(body)) throw new Error("The body of a schedule is no object.");
  return { ...toScheduleBody(schedule), body, nextTimes: listTimes(schedule) };
}

function listTimes(schedule: ScheduleRecord): string[] {
  const times: string[] = [];
  let next = schedule.nextAt;
  while (next !== null && times.length < SHOWN_TIMES) {
    times.push(formatTimestamp(next));
    next = findNext(schedule, next);
  }
  return times;
}

function toRunBody({ dueAt, ...run }: RunRecord): ScheduleRun {
  return { ...run, dueAt: formatTimestamp(dueAt) };
}
