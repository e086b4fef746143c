/** `npm run faults`: the platform under faults that follow from a seed, judged by what its clients have seen (docs/reliability.md). */
import { argv, env, exit, stderr, stdout } from "node:process";
import { fileURLToPath } from "node:url";
import { explainExit } from "./exits.ts";
import { IS_ALONE, PART_DIRECTORY, runParts } from "./parts.ts";
import type { Outcome } from "./parts.ts";
import { countExits } from "./report.ts";
import type { Report } from "./report.ts";
import { describeBroken, runPart } from "./run-part.ts";
import { USAGE, readWish } from "./wish.ts";
import type { Wish } from "./wish.ts";

const BROKEN = 1;
const NOT_RUN = 2;

async function main(): Promise<number> {
  const wish = readWish(argv.slice(2));
  const directory = env[PART_DIRECTORY];
  if (directory === undefined) return conclude(await runParts(wish), wish);
  await runPart(wish, directory, env[IS_ALONE] !== undefined);
  return 0;
}

function conclude({ report, failures }: Outcome, wish: Wish): number {
  const { faults, seen, broken, schedules } = report;
  const crashes = report.exits.filter((exit) => !explainExit(exit).isMeant);
  if (wish.isJson) stdout.write(`${JSON.stringify({ ...wish, ...report })}\n`);
  else {
    stdout.write(`${JSON.stringify({ faults, seen, exits: countExits(report) }, null, 2)}\n`);
    for (const fault of broken) stdout.write(`${describeBroken(fault, wish)}\n`);
    for (const crash of crashes) stdout.write(`${describeCrash(crash)}\n`);
    stdout.write(
      `${schedules} schedules of seed ${wish.seed}: ${broken.length} broken promises, ${crashes.length} processes that ended for no reason\n`,
    );
  }
  for (const failure of failures) stderr.write(`${failure}\n`);
  if (broken.length > 0 || crashes.length > 0) return BROKEN;
  return failures.length > 0 ? NOT_RUN : 0;
}

function describeCrash({ name, schedule, log, ...exit }: Report["exits"][number]): string {
  const { why } = explainExit({ ...exit, log });
  return [`schedule ${schedule}: ${name} ended by itself, ${why}`, ...log].join("\n       ");
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
    exit(NOT_RUN);
  }
}
