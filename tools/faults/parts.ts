import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process, { argv, env, execPath, getuid, stderr } from "node:process";
import { shiftPorts } from "../platform-process.ts";
import { addUp } from "./report.ts";
import type { Report } from "./report.ts";
import { getReportFile, toArguments } from "./wish.ts";
import type { Wish } from "./wish.ts";

/** Set where this process runs one part: the folder that it works in. */
export const PART_DIRECTORY = "FAULTS_PART";
/** Set besides where it is in namespaces of its own. */
export const IS_ALONE = "FAULTS_NAMESPACES";
/** What a campaign that is stopped loses is at most the schedules of a part for each platform. */
const PART = 50;
/** Of ports, from one fleet to the next: those between are of the workers of a test run. */
const SHARES_BETWEEN = 4;
const SECOND = 1_000;

/**
 * Root works in namespaces of its own: a network with cables that can be cut, a disk that can be filled, and processes none of which is left
 * when the part is over.
 */
const UNSHARE = ["--mount", "--net", "--pid", "--fork", "--kill-child", "--mount-proc"];
/** What is needed in there: cables, and programs that lead into their namespace. */
const TRIAL = "ip link add cable0 type veth peer name cable1 && nsenter --version && setpriv --version";
/** The shell stays, as the first process: it collects those whose parents were killed. */
const SCRIPT = 'ip link set lo up; "$@"; exit $?';
const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** What came of all parts. */
export interface Outcome {
  readonly report: Report;
  /** Parts that came to no end, and why. */
  readonly failures: readonly string[];
}

/** The schedules in parts of at most `PART`, and no fewer than there are platforms. */
export function split(wish: Wish): readonly Wish[] {
  const size = Math.min(PART, Math.ceil(wish.schedules / wish.fleets));
  const parts: Wish[] = [];
  for (let done = 0; done < wish.schedules; done += size)
    parts.push({
      ...wish,
      first: wish.first + done,
      schedules: Math.min(size, wish.schedules - done),
      fleets: 1,
    });
  return parts;
}

/** Runs all parts, each on a platform of its own in a process of its own, as many at a time as there are to be fleets. */
export async function runParts(wish: Wish): Promise<Outcome> {
  const hasNamespaces = !wish.isPlain && canHaveNamespaces();
  const waiting = [...split(wish)];
  const reports: Report[] = [];
  const failures: string[] = [];
  const begunAt = performance.now();
  const stopping = new AbortController();
  for (const signal of SIGNALS)
    // A terminal's Ctrl-C comes twice, as npm sends a copy: the second must not end this process before its parts.
    process.on(signal, () => {
      waiting.length = 0;
      stopping.abort();
    });
  const work = async (fleet: number) => {
    for (let part = waiting.shift(); part !== undefined; part = waiting.shift()) {
      const before = wish.isResumed ? await readReport(part) : null;
      if (before !== null && before.schedules === part.schedules) {
        reports.push(before);
        continue;
      }
      const spent = Math.round((performance.now() - begunAt) / SECOND);
      if (wish.withinSeconds > 0 && spent >= wish.withinSeconds) return;
      const withinSeconds = wish.withinSeconds === 0 ? 0 : wish.withinSeconds - spent;
      const place = { isJson: wish.isJson, hasNamespaces, fleet, signal: stopping.signal };
      const code = await runPart({ ...part, withinSeconds }, place);
      const report = code === 0 ? await readReport(part) : null;
      if (report === null) failures.push(`schedules from ${part.first}: exit status ${code}`);
      else reports.push(report);
    }
  };
  await Promise.all(Array.from({ length: wish.fleets }, (_, fleet) => work(fleet)));
  return { report: addUp(reports), failures };
}

/** Null: there is none. */
async function readReport(part: Wish): Promise<Report | null> {
  try {
    return JSON.parse(await readFile(getReportFile(part), "utf8")) as Report;
  } catch {
    return null;
  }
}

interface Place {
  readonly isJson: boolean;
  readonly hasNamespaces: boolean;
  /** Which of those that run at the same time, from 0. */
  readonly fleet: number;
  /** Aborted when this process is to stop. */
  readonly signal: AbortSignal;
}

/** Runs this program once more, for one part. Returns its exit status. */
async function runPart(part: Wish, { isJson, hasNamespaces, fleet, signal }: Place): Promise<number> {
  const directory = await mkdtemp(join(tmpdir(), "faults-"));
  await chmod(directory, 0o755);
  await rm(getReportFile(part), { force: true });
  const command = [execPath, argv[1] ?? "", ...toArguments(part)];
  const [file = "", ...words] = hasNamespaces
    ? ["unshare", ...UNSHARE, "sh", "-c", SCRIPT, "sh", ...command]
    : command;
  const child = spawn(file, words, {
    stdio: ["ignore", isJson ? stderr : "inherit", "inherit"],
    env: {
      ...env,
      ...shiftPorts(SHARES_BETWEEN * fleet),
      [PART_DIRECTORY]: directory,
      ...(hasNamespaces ? { [IS_ALONE]: "yes" } : {}),
    },
  });
  // "unshare" waits for its program, deaf to SIGTERM; with it everything in its namespaces ends.
  const stop = () => void child.kill(hasNamespaces ? "SIGKILL" : "SIGTERM");
  signal.addEventListener("abort", stop);
  try {
    const [code] = (await once(child, "exit")) as [number | null];
    return code ?? 1;
  } finally {
    signal.removeEventListener("abort", stop);
    await rm(directory, { recursive: true, force: true });
  }
}

function canHaveNamespaces(): boolean {
  if (getuid?.() !== 0) return false;
  try {
    execFileSync("unshare", [...UNSHARE, "sh", "-c", TRIAL], { stdio: "pipe" });
    return true;
  } catch {
    return false;
  }
}
