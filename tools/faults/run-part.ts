import { execFileSync } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { join, relative } from "node:path";
import process, { exit, stdout } from "node:process";
import { runCampaign } from "./campaign.ts";
import type { Done } from "./campaign.ts";
import { createFleet } from "./fleet.ts";
import { describeFault } from "./nemesis.ts";
import { createCableNetwork, createProxyNetwork } from "./network.ts";
import { findFreePort } from "../platform-process.ts";
import type { Report } from "./report.ts";
import { getHistories, getReportFile } from "./wish.ts";
import type { Wish } from "./wish.ts";

const DISK = "384m";
const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
/** What a shell reports for a program that Ctrl-C ended. */
const SIGNALLED = 130;

function say(text: string): void {
  stdout.write(`${text}\n`);
}

/** Runs the schedules of one part on a platform in this folder, and writes down the report. */
export async function runPart(wish: Wish, directory: string, isAlone: boolean): Promise<void> {
  const dataDirectory = join(directory, "data");
  await mkdir(dataDirectory);
  if (isAlone) execFileSync("mount", ["-t", "tmpfs", "-o", `size=${DISK},mode=0755`, "tmpfs", dataDirectory]);
  const databasePort = await findFreePort();
  const network = isAlone ? await createCableNetwork(databasePort) : createProxyNetwork(databasePort);
  say(
    `seed ${wish.seed}, ${wish.schedules} schedules from ${wish.first}; ${network.describe()}; ${isAlone ? "a small disk" : "no small disk, which only root may mount"}`,
  );
  const fleet = createFleet({ directory, dataDirectory, network, databasePort });
  const close = async () => {
    await fleet.close();
    await network.close();
  };
  for (const signal of SIGNALS) process.on(signal, () => void close().finally(() => exit(SIGNALLED)));
  try {
    await fleet.start();
    const report = await runCampaign({
      ...wish,
      fleet,
      abilities: { canFillDisk: isAlone },
      directory,
      histories: getHistories(wish),
      onSchedule: (done) => say(describeDone(done, wish)),
    });
    await mkdir(getHistories(wish), { recursive: true });
    await writeFile(getReportFile(wish), `${JSON.stringify(report)}\n`);
  } finally {
    await close();
  }
}

function describeDone({ schedule, broken, tookMs }: Done, wish: Wish): string {
  const faults = schedule.faults.map((fault) => describeFault(fault)).join("; ");
  const head = `${String(schedule.number).padStart(5)}  ${(tookMs / 1_000).toFixed(1).padStart(5)} s  ${broken.length === 0 ? "ok    " : "BROKEN"}  ${faults}`;
  return [head, ...broken.map((fault) => describeBroken({ ...fault, schedule: schedule.number }, wish))].join(
    "\n",
  );
}

/** Lines for people: which promise was broken, where its history is, how it is repeated. */
export function describeBroken(
  { violation, of, detail, schedule }: Report["broken"][number],
  wish: Pick<Wish, "seed">,
): string {
  const path = relative(process.cwd(), getHistories(wish));
  return [
    `${violation} ${of}: ${detail}`,
    `history: ${path}/schedule-${schedule}.jsonl`,
    `again: npm run faults -- --seed ${wish.seed} --first ${schedule} --schedules 1`,
  ]
    .map((line) => `       ${line}`)
    .join("\n");
}
