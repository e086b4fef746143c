/** `npm run faults`: the platform under faults that follow from a seed, judged by what its clients have seen (docs/reliability.md). */
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import process, { argv, env, execPath, exit, getuid, stderr, stdout } from "node:process";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { REPOSITORY, findFreePort } from "../platform-process.ts";
import { runCampaign } from "./campaign.ts";
import type { Done, Report } from "./campaign.ts";
import { createFleet } from "./fleet.ts";
import { describeFault } from "./nemesis.ts";
import { createCableNetwork, createProxyNetwork } from "./network.ts";

const OPTIONS = {
  seed: { type: "string" },
  schedules: { type: "string", default: "200" },
  first: { type: "string", default: "0" },
  within: { type: "string", default: "0" },
  json: { type: "boolean", default: false },
  plain: { type: "boolean", default: false },
  keep: { type: "boolean", default: false },
} as const;
const USAGE = `npm run faults -- [--seed N] [--schedules K] [--first N] [--within S] [--plain] [--keep] [--json]
  --seed N        what all faults and requests follow from; default: by chance
  --schedules K   how many; default 200
  --first N       number of the first one; default 0
  --within S      begin no more schedules after so many seconds; default 0: no limit
  --plain         without namespaces, also as root: proxies, and no disk that is filled
  --keep          keep the history of every schedule
  --json          the report is one line of JSON
`;
/** Set where this process is in namespaces of its own: the campaign's folder. */
const INSIDE = "FAULTS_NAMESPACES";
const DISK = "384m";
const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
/** What a shell reports for a program that Ctrl-C ended. */
const SIGNALLED = 130;
const HIGHEST_SEED = 1_000_000;

interface Wish {
  readonly seed: number;
  readonly schedules: number;
  readonly first: number;
  /** 0: no limit. */
  readonly withinSeconds: number;
  readonly isJson: boolean;
  readonly isPlain: boolean;
  /** Keeps the history of each schedule, not only of those that break a promise. */
  readonly isKept: boolean;
}

function readWish(): Wish {
  const { values } = parseArgs({ args: argv.slice(2), options: OPTIONS });
  const wish = {
    seed: Number(values.seed ?? Math.floor(Math.random() * HIGHEST_SEED)),
    schedules: Number(values.schedules),
    first: Number(values.first),
    withinSeconds: Number(values.within),
    isJson: values.json,
    isPlain: values.plain,
    isKept: values.keep,
  };
  const { seed, first, schedules, withinSeconds } = wish;
  if ([seed, first, withinSeconds].every((value) => isCount(value, 0)) && isCount(schedules, 1)) return wish;
  throw new TypeError("--seed, --schedules, --first and --within are whole numbers.");
}

function isCount(value: number, lowest: number): boolean {
  return Number.isSafeInteger(value) && value >= lowest;
}

/**
 * Root works in namespaces of its own: a network with cables that can be cut, a disk that can be filled, and processes none of which is left
 * when the campaign is gone.
 */
const UNSHARE = ["--mount", "--net", "--pid", "--fork", "--kill-child", "--mount-proc"];
/** What is needed in there: cables, and programs that lead into their namespace. */
const TRIAL = "ip link add cable0 type veth peer name cable1 && nsenter --version && setpriv --version";

function canHaveNamespaces(): boolean {
  if (getuid?.() !== 0) return false;
  try {
    execFileSync("unshare", [...UNSHARE, "sh", "-c", TRIAL], { stdio: "pipe" });
    return true;
  } catch {
    return false;
  }
}

/** Runs this program once more, in there; returns its exit code. */
async function runInNamespaces(directory: string): Promise<number> {
  // The shell stays, as the first process: it collects those whose parents were killed.
  const script = 'ip link set lo up; "$@"; exit $?';
  const words = [...UNSHARE, "sh", "-c", script, "sh", execPath, ...argv.slice(1)];
  const child = spawn("unshare", words, { stdio: "inherit", env: { ...env, [INSIDE]: directory } });
  for (const signal of SIGNALS) process.on(signal, () => child.kill(signal));
  const [code] = (await once(child, "exit")) as [number | null];
  return code ?? 1;
}

async function main(): Promise<number> {
  const wish = readWish();
  const inside = env[INSIDE];
  if (inside !== undefined) return await runFleet(wish, inside, true);
  const directory = await mkdtemp(join(tmpdir(), "faults-"));
  await chmod(directory, 0o755);
  try {
    return await (!wish.isPlain && canHaveNamespaces()
      ? runInNamespaces(directory)
      : runFleet(wish, directory, false));
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

async function runFleet(wish: Wish, directory: string, isInside: boolean): Promise<number> {
  const say = (text: string) => (wish.isJson ? stderr : stdout).write(`${text}\n`);
  const dataDirectory = join(directory, "data");
  await mkdir(dataDirectory);
  if (isInside)
    execFileSync("mount", ["-t", "tmpfs", "-o", `size=${DISK},mode=0755`, "tmpfs", dataDirectory]);
  const databasePort = await findFreePort();
  const network = isInside ? await createCableNetwork(databasePort) : createProxyNetwork(databasePort);
  say(
    `seed ${wish.seed}, ${wish.schedules} schedules; ${network.describe()}; ${isInside ? "a small disk" : "no small disk, which only root may mount"}`,
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
      abilities: { canFillDisk: isInside },
      directory,
      histories: getHistories(wish),
      onSchedule: (done) => say(describeDone(done, wish)),
    });
    return conclude(report, wish, say);
  } finally {
    await close();
  }
}

function getHistories({ seed }: Wish): string {
  return join(REPOSITORY, ".cache", "faults", `seed-${seed}`);
}

function describeDone({ schedule, broken, tookMs }: Done, wish: Wish): string {
  const faults = schedule.faults.map((fault) => describeFault(fault)).join("; ");
  const head = `${String(schedule.number).padStart(5)}  ${(tookMs / 1_000).toFixed(1).padStart(5)} s  ${broken.length === 0 ? "ok    " : "BROKEN"}  ${faults}`;
  return [head, ...broken.map((fault) => describeBroken({ ...fault, schedule: schedule.number }, wish))].join(
    "\n",
  );
}

function describeBroken({ violation, of, detail, schedule }: Report["broken"][number], wish: Wish): string {
  const path = relative(process.cwd(), getHistories(wish));
  return [
    `${violation} ${of}: ${detail}`,
    `history: ${path}/schedule-${schedule}.jsonl`,
    `again: npm run faults -- --seed ${wish.seed} --first ${schedule} --schedules 1`,
  ]
    .map((line) => `       ${line}`)
    .join("\n");
}

function conclude(report: Report, wish: Wish, say: (text: string) => void): number {
  if (wish.isJson) stdout.write(`${JSON.stringify({ ...wish, ...report })}\n`);
  else {
    say(JSON.stringify({ faults: report.faults, seen: report.seen, exits: report.exits }, null, 2));
    for (const fault of report.broken) say(describeBroken(fault, wish));
    say(`${report.schedules} schedules of seed ${wish.seed}: ${report.broken.length} broken promises`);
  }
  return report.broken.length === 0 ? 0 : 1;
}

if (argv[1] === fileURLToPath(import.meta.url)) {
  try {
    exit(await main());
  } catch (error) {
    stderr.write(
      error instanceof TypeError
        ? `${error.message}\n${USAGE}`
        : `${error instanceof Error ? error.stack : String(error)}\n`,
    );
    exit(2);
  }
}
