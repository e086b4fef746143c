import { setTimeout as delay } from "node:timers/promises";
import type { Fleet } from "./fleet.ts";
import type { History } from "./history.ts";
import { MEMBERS } from "./schedule.ts";
import type { Fault, FaultAction, Member } from "./schedule.ts";

/** A moment for which a fault waits comes soon, or the fault happens without it. */
const MOMENT_WITHIN_MS = 2_500;

/**
 * Does the faults of a schedule, at their times from now on. Resolves when all are repaired and every process is ready again; what is not
 * is written down.
 */
export async function disturb(fleet: Fleet, faults: readonly Fault[], history: History): Promise<void> {
  const note = (what: string) => history.add({ kind: "fault", what });
  const noteFailure = (error: unknown) =>
    history.add({ kind: "unrepaired", what: error instanceof Error ? error.message : String(error) });
  await Promise.all(
    faults.map(async ({ atMs, after, ...fault }) => {
      if (after !== null)
        await Promise.race([history.awaitMoment(after.moment, after.count), delay(MOMENT_WITHIN_MS)]);
      if (after === null || atMs > 0) await delay(atMs);
      note(describeAction(fault));
      await act(fleet, fault).catch(noteFailure);
      note(`over: ${describeAction(fault)}`);
    }),
  );
  await Promise.all(Object.values(fleet.ships()).map((ship) => ship.awaitReady().catch(noteFailure)));
}

/** One line for people. */
export function describeFault({ atMs, after, ...action }: Fault): string {
  const when = after === null ? `at ${atMs} ms` : `${atMs} ms after ${after.moment} ${after.count}`;
  return `${describeAction(action)} ${when}`;
}

function describeAction(fault: FaultAction): string {
  const { kind, ...details } = fault;
  return [kind, ...Object.entries(details).map(([name, value]) => `${name}=${String(value)}`)].join(" ");
}

async function act(fleet: Fleet, fault: FaultAction): Promise<void> {
  switch (fault.kind) {
    case "kill":
      return await killAndStart(fleet, fault.target, fault.forMs);
    case "restart": {
      const ship = fleet.ships()[fault.target];
      await ship.stop();
      return await ship.start();
    }
    case "pause":
      return await pause(fleet, fault.target, fault.forMs);
    case "cut": {
      const { way } = fleet.ships()[fault.target];
      way.cut(fault.way);
      await delay(fault.forMs);
      return way.heal(fault.isReset);
    }
    case "fill-disk":
      await fleet.fillDisk();
      await delay(fault.forMs);
      return await fleet.freeDisk();
    case "step-clock":
      return await stepClock(fleet, fault.target, fault);
  }
}

async function killAndStart(
  fleet: Fleet,
  target: Member | "database" | "everything",
  forMs: number,
): Promise<void> {
  const [database, ships] = [fleet.database(), fleet.ships()];
  const members = target === "everything" ? MEMBERS : target === "database" ? [] : [target];
  const isDatabase = target === "everything" || target === "database";
  await Promise.all([...members.map((name) => ships[name].kill()), ...(isDatabase ? [database.kill()] : [])]);
  await delay(forMs);
  if (isDatabase) await database.start();
  await Promise.all(members.map((name) => ships[name].start()));
}

async function pause(fleet: Fleet, target: Member | "database", forMs: number): Promise<void> {
  const [database, ships] = [fleet.database(), fleet.ships()];
  if (target === "database") {
    await database.signal("SIGSTOP");
    await delay(forMs);
    return await database.signal("SIGCONT");
  }
  ships[target].signal("SIGSTOP");
  await delay(forMs);
  ships[target].signal("SIGCONT");
}

async function stepClock(
  fleet: Fleet,
  target: Member | "database",
  { seconds, forMs }: { readonly seconds: number; readonly forMs: number },
): Promise<void> {
  const step = (by: number) =>
    target === "database" ? fleet.database().stepClock(by) : fleet.ships()[target].stepClock(by);
  await step(seconds);
  await delay(forMs);
  await step(0);
}
