import { availableParallelism } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { REPOSITORY } from "../platform-process.ts";

const OPTIONS = {
  seed: { type: "string" },
  schedules: { type: "string", default: "200" },
  first: { type: "string", default: "0" },
  within: { type: "string", default: "0" },
  fleets: { type: "string", default: String(Math.min(2, availableParallelism())) },
  resume: { type: "boolean", default: false },
  json: { type: "boolean", default: false },
  plain: { type: "boolean", default: false },
  keep: { type: "boolean", default: false },
} as const;

/** What is printed where the arguments are wrong. */
export const USAGE = `npm run faults -- [--seed N] [--schedules K] [--first N] [--within S] [--fleets N] [--resume] [--plain] [--keep] [--json]
  --seed N        what all faults and requests follow from; default: by chance
  --schedules K   how many; default 200
  --first N       number of the first one; default 0
  --within S      begin no more schedules after so many seconds; default 0: no limit
  --fleets N      so many platforms at a time, each with a part of the schedules; default 2, on one core 1
  --resume        leave out parts that were run before, with the same seed and numbers, and count what they found
  --plain         without namespaces, also as root: proxies, and no disk that is filled
  --keep          keep the history of every schedule
  --json          the report is one line of JSON
`;
const HIGHEST_SEED = 1_000_000;

/** What is asked of a campaign. */
export interface Wish {
  readonly seed: number;
  readonly schedules: number;
  /** Number of the first one. */
  readonly first: number;
  /** 0: no limit. */
  readonly withinSeconds: number;
  /** Platforms at a time. */
  readonly fleets: number;
  readonly isResumed: boolean;
  readonly isJson: boolean;
  readonly isPlain: boolean;
  /** Keeps the history of each schedule, not only of those that break a promise. */
  readonly isKept: boolean;
}

/** @throws TypeError with what is wrong */
export function readWish(args: readonly string[]): Wish {
  const { values } = parseArgs({ args: [...args], options: OPTIONS });
  const wish = {
    seed: Number(values.seed ?? Math.floor(Math.random() * HIGHEST_SEED)),
    schedules: Number(values.schedules),
    first: Number(values.first),
    withinSeconds: Number(values.within),
    fleets: Number(values.fleets),
    isResumed: values.resume,
    isJson: values.json,
    isPlain: values.plain,
    isKept: values.keep,
  };
  const { seed, first, withinSeconds, schedules, fleets } = wish;
  if (
    [seed, first, withinSeconds].every((value) => isCount(value, 0)) &&
    isCount(schedules, 1) &&
    isCount(fleets, 1)
  )
    return wish;
  throw new TypeError("--seed, --schedules, --first, --within and --fleets are whole numbers.");
}

function isCount(value: number, lowest: number): boolean {
  return Number.isSafeInteger(value) && value >= lowest;
}

/** The arguments by which `readWish` reads this wish. */
export function toArguments(wish: Wish): readonly string[] {
  const { seed, schedules, first, withinSeconds, fleets, isPlain, isKept } = wish;
  const numbers = { seed, schedules, first, within: withinSeconds, fleets };
  const flags = [isPlain ? ["--plain"] : [], isKept ? ["--keep"] : []].flat();
  return [...Object.entries(numbers).flatMap(([name, value]) => [`--${name}`, String(value)]), ...flags];
}

/** Where histories and the reports of parts are kept. */
export function getHistories({ seed }: Pick<Wish, "seed">): string {
  return join(REPOSITORY, ".cache", "faults", `seed-${seed}`);
}

/** Of the part that these schedules are. */
export function getReportFile(part: Pick<Wish, "seed" | "first" | "schedules">): string {
  return join(getHistories(part), `part-${part.first}-${part.schedules}.json`);
}
