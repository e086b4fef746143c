import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { REPOSITORY } from "../platform-process.ts";

/** What is printed for `--help`, and where the arguments are wrong. */
export const USAGE = `npm run demo -- [DIRECTORY] [--quantum]
  DIRECTORY   where its data is kept; default data/demo of the repository
  --quantum   have circuits run on a simulator as well
  --help      print this
`;
const OPTIONS = {
  quantum: { type: "boolean", default: false },
  help: { type: "boolean", short: "h", default: false },
} as const;

/** What is asked of the demo. */
export interface Wish {
  /** Absolute path. */
  readonly dataDirectory: string;
  readonly hasQuantum: boolean;
  /** Only to be told how it is called. */
  readonly isHelp: boolean;
}

/** @throws TypeError with what is wrong */
export function readWish(args: readonly string[]): Wish {
  const { values, positionals } = parseArgs({ args: [...args], options: OPTIONS, allowPositionals: true });
  if (positionals.length > 1 && !values.help)
    throw new TypeError(`One directory, not ${positionals.length}.`);
  const [directory = join(REPOSITORY, "data", "demo")] = positionals;
  return { dataDirectory: resolve(directory), hasQuantum: values.quantum, isHelp: values.help };
}
