import { setTimeout as delay } from "node:timers/promises";
import type { Fleet } from "./fleet.ts";
import { MEMBERS } from "./schedule.ts";
import type { Fault, FaultAction, Member } from "./schedule.ts";

/** Does the faults of a schedule, at their times from now on; resolves when all are repaired and every process is ready again. */
export async function disturb(
  fleet: Fleet,
  faults: readonly Fault[],
  note: (what: string) => void,
): Promise<void> {
  await Promise.all(
    faults.map(async ({ atMs, ...fault }) => {
      await delay(atMs);
      note(describeFault(fault));
      await act(fleet, fault);
      note(`over: ${describeFault(fault)}`);
    }),
  );
}

/** One line for people. */
export function describeFault(fault: FaultAction): string {
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
