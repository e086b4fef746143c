import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createCaller } from "./caller.ts";
import type { Caller } from "./caller.ts";
import { checkHistory } from "./check-history.ts";
import type { Fault as BrokenPromise } from "./check-history.ts";
import { carryOut, followToEnd } from "./client.ts";
import { explainExit } from "./exits.ts";
import { READERS, startReaders } from "./feed-readers.ts";
import type { Fleet } from "./fleet.ts";
import { createHistory } from "./history.ts";
import type { Entry, History } from "./history.ts";
import { disturb } from "./nemesis.ts";
import type { Report } from "./report.ts";
import { openReceiver } from "./receiver.ts";
import { isRetried, planSchedule } from "./schedule.ts";
import type { Abilities, Schedule } from "./schedule.ts";
import { createWebhook, deployServices } from "./service.ts";
import { isEnd, settle, waitUntil } from "./settle.ts";
import { within } from "./bounded-wait.ts";

const SECOND = 1_000;
/** So long clients wait after everything was repaired: a limit for what hangs, not for what is slow. */
const SETTLE_WITHIN_MS = 90 * SECOND;
/** A message whose sender was killed is sent again after 45 s, one that was refused twice after 35 s. */
const DELIVER_WITHIN_MS = 240 * SECOND;
const STOP_WITHIN_MS = 60 * SECOND;
const AUDITS_AT_ONCE = 8;
/** Executions that no start of ours is known of: their answers were lost, and their code has not begun. */
const ORPHANS = -1;
const UNCOUNTED: ReadonlySet<Entry["kind"]> = new Set([
  "fault",
  "unrepaired",
  "gave-up",
  "settled",
  "delivered",
]);
const ENDED: Entry[] = [
  { kind: "settled", atMs: Infinity },
  { kind: "delivered", atMs: Infinity },
];

/** What a campaign does. */
export interface CampaignOptions {
  readonly fleet: Fleet;
  readonly abilities: Abilities;
  readonly seed: number;
  /** Number of the first schedule. */
  readonly first: number;
  readonly schedules: number;
  /** After so long no more schedules begin; 0: there is no limit. */
  readonly withinSeconds: number;
  readonly directory: string;
  /** Where the history of a schedule is kept that breaks a promise. */
  readonly histories: string;
  /** Keep the others as well. */
  readonly isKept: boolean;
  readonly onSchedule: (done: Done) => void;
}

/** A schedule that is over. */
export interface Done {
  readonly schedule: Schedule;
  readonly broken: readonly BrokenPromise[];
  /** From its begin until all of it had ended. */
  readonly tookMs: number;
}

interface Campaign {
  readonly options: CampaignOptions;
  readonly history: History;
  readonly callerOf: (op: string) => Caller;
  readonly exits: Report["exits"][number][];
}

/** Runs schedules one after the other on one platform, then looks at all executions once more, and judges everything. */
export async function runCampaign(options: CampaignOptions): Promise<Report> {
  const { fleet, directory, seed, abilities } = options;
  const history = createHistory();
  const receiver = await openReceiver(history);
  const services = await deployServices(fleet, directory, history);
  receiver.setSecret(await createWebhook(fleet, services.subscription, receiver.url));
  const call = (path: string) => createCaller(getGateways(fleet), services.subscription, path);
  const [once, retried] = [call(services.paths.once), call(services.paths.retried)];
  const callerOf = (op: string) => (isRetried(op) ? retried : once);
  const campaign: Campaign = { options, history, callerOf, exits: [] };
  const readers = startReaders(once, history);
  const schedules: Schedule[] = [];
  const limitMs = options.withinSeconds === 0 ? Infinity : options.withinSeconds * SECOND;
  const begunAt = performance.now();
  try {
    while (schedules.length < options.schedules && performance.now() - begunAt < limitMs) {
      const schedule = planSchedule(seed, options.first + schedules.length, abilities);
      schedules.push(schedule);
      options.onSchedule(await run(campaign, schedule));
      if (!isRepaired(history, [schedule.number])) break;
    }
    const numbers = schedules.map(({ number }) => number);
    // A platform that does not come up again has broken a promise, and can be asked nothing more.
    if (isRepaired(history, numbers)) {
      await audit(campaign, numbers);
      await waitForMessages(campaign, numbers);
    }
    noteExits(campaign, numbers.at(-1) ?? options.first);
    return await judge(campaign, schedules);
  } finally {
    await within("the readers of the feed to stop", STOP_WITHIN_MS, readers.close());
    receiver.close();
    await within("user code to close its connections", STOP_WITHIN_MS, services.close());
  }
}

function isRepaired(history: History, numbers: readonly number[]): boolean {
  return numbers.every((number) => history.ofSchedule(number).every(({ kind }) => kind !== "unrepaired"));
}

function getGateways(fleet: Fleet): readonly [string, string] {
  const ships = fleet.ships();
  return [ships["gateway-1"].platform().gatewayUrl, ships["gateway-2"].platform().gatewayUrl];
}

async function run(campaign: Campaign, schedule: Schedule): Promise<Done> {
  const { history, callerOf, options } = campaign;
  const { number } = schedule;
  const begunAt = performance.now();
  history.open(number);
  const givingUp = new AbortController();
  const context = { callerOf, history, signal: givingUp.signal };
  const clients = Promise.all(schedule.orders.map((order) => carryOut(context, order)));
  await disturb(options.fleet, schedule.faults, history);
  const timer = setTimeout(() => givingUp.abort(), SETTLE_WITHIN_MS);
  await clients;
  // Starts without an answer whose code has begun.
  await settle(history, number, givingUp.signal, async (id, gateway) => {
    await followToEnd(context, { op: history.getOp(id) ?? "", id }, { follow: "wait", gateway });
  });
  clearTimeout(timer);
  noteExits(campaign, number);
  history.add({ kind: "settled" });
  const broken = checkHistory(history.ofSchedule(number), READERS);
  if (broken.length > 0 || options.isKept) await keep(options, number, history.ofSchedule(number));
  return { schedule, broken, tookMs: performance.now() - begunAt };
}

function noteExits({ options, history, exits }: Campaign, schedule: number): void {
  for (const exit of Object.values(options.fleet.ships()).flatMap((ship) => ship.takeExits())) {
    exits.push({ ...exit, schedule });
    history.add({ kind: "fault", what: `${exit.name} has ended by itself: ${explainExit(exit).why}` });
  }
}

/** Fetches all results once more, from gateways that remember nothing: both are started again. */
async function audit({ options, history, callerOf }: Campaign, numbers: readonly number[]): Promise<void> {
  const ships = options.fleet.ships();
  await Promise.all([ships["gateway-1"].kill(), ships["gateway-2"].kill()]);
  await Promise.all([ships["gateway-1"].start(), ships["gateway-2"].start()]);
  const context = {
    callerOf,
    history,
    signal: AbortSignal.timeout(SETTLE_WITHIN_MS + numbers.length * SECOND),
  };
  const ids = numbers.flatMap((number) => history.idsOf(number));
  await Promise.all(
    Array.from({ length: AUDITS_AT_ONCE }, async () => {
      for (let id = ids.pop(); id !== undefined; id = ids.pop()) {
        const followed = { op: history.getOp(id) ?? "", id };
        await followToEnd(context, followed, { follow: "poll", gateway: ids.length });
      }
    }),
  );
}

async function waitForMessages({ history }: Campaign, numbers: readonly number[]): Promise<void> {
  const ids = numbers.flatMap((number) => history.idsOf(number));
  const isTold = (id: string) =>
    history.ofExecution(id).some((entry) => entry.kind === "message" && entry.answered < 300);
  await waitUntil(() => ids.every(isTold), AbortSignal.timeout(DELIVER_WITHIN_MS));
}

async function judge({ options, history, exits }: Campaign, schedules: readonly Schedule[]): Promise<Report> {
  const broken: Report["broken"][number][] = [];
  const seen: Record<string, number> = {};
  const count = (what: string) => (seen[what] = (seen[what] ?? 0) + 1);
  const parts = [
    ...schedules.map(({ number }) => ({ number, entries: history.ofSchedule(number) })),
    { number: ORPHANS, entries: history.ofOrphans() },
  ];
  const isOver = isRepaired(
    history,
    schedules.map(({ number }) => number),
  );
  const ended: Entry[] = isOver ? ENDED : [];
  for (const { number, entries } of parts) {
    const found = checkHistory([...entries, ...ended], READERS);
    broken.push(...found.map((fault) => ({ ...fault, schedule: number })));
    if (found.length > 0) await keep(options, number, entries);
    countSeen(entries, count);
  }
  const faults: Record<string, number> = {};
  for (const fault of schedules.flatMap((schedule) => schedule.faults)) {
    const name = "target" in fault ? `${fault.kind} ${fault.target}` : fault.kind;
    faults[name] = (faults[name] ?? 0) + 1;
  }
  return { schedules: schedules.length, faults, seen, exits: [...exits], broken };
}

function countSeen(entries: readonly Entry[], count: (what: string) => unknown): void {
  const ends = new Map<string, string>();
  for (const entry of entries) {
    if (UNCOUNTED.has(entry.kind)) continue;
    count(entry.kind);
    if (entry.kind === "accepted" && entry.isReplay) count("accepted as a replay");
    if ((entry.kind === "state" || entry.kind === "event") && isEnd(entry.status))
      ends.set(entry.id, entry.status);
  }
  for (const status of ends.values()) {
    count("executions");
    count(`ended ${status}`);
  }
}

async function keep(
  { histories }: CampaignOptions,
  number: number,
  entries: readonly Entry[],
): Promise<void> {
  await mkdir(histories, { recursive: true });
  const name = number === ORPHANS ? "orphans.jsonl" : `schedule-${number}.jsonl`;
  await writeFile(join(histories, name), entries.map((entry) => `${JSON.stringify(entry)}\n`).join(""));
}
