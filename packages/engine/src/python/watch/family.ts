import { listChildren, listChildrenOfFirst, readNumbers, readStat } from "./process-files.ts";
import type { ProcessStat } from "./process-files.ts";

/** Between the process that was started and the zygote: launchers, and what bubblewrap forks. */
const MAX_LAUNCHERS = 32;

/** The process that runs the code of one execution, and its zygote, as this process numbers them. */
export interface Leader {
  /** As it was when it was found. */
  readonly stat: ProcessStat;
  readonly zygote: number;
  /** Memory that it had from the zygote when it was forked. */
  readonly inheritedBytes: number;
  /** Whether it is pid 1 of processes of its own, with file systems of its own. */
  readonly isApart: boolean;
  /** Whether it ends all others itself once the zygote has ended, and so must be the last of them; see `confine.py`. */
  readonly isWarden: boolean;
}

/** A zygote and its children, as the kernel shows them. What a zygote says is not believed: it may run user code. */
export interface Family {
  /** The zygote says which process it is, as it numbers itself. Believed once, and only of one below the process that was started. */
  readonly open: (launched: number, number: number) => void;
  /** The child that has this number for the zygote; null: the zygote has no such child. */
  readonly find: (number: number) => ProcessStat | null;
}

/**
 * A family that is not known yet.
 *
 * @param read how a child is read that was listed: a number may be given to another process in between, which only a test can bring about
 */
export function createFamily(read = readStat): Family {
  let zygote: { readonly pid: number; readonly depth: number } | null = null;
  /** The children of the last look, with their numbers, which stay the same: to read them is most of a look. */
  let known: ReadonlyMap<number, readonly number[]> = new Map();

  function look(number: number): ProcessStat | null {
    if (zygote === null) return null;
    const { pid: parent, depth } = zygote;
    const listed = listChildrenOfFirst(parent).map((pid): readonly [number, readonly number[]] => [
      pid,
      known.get(pid) ?? readNumbers(pid),
    ]);
    known = new Map(listed.filter(([, numbers]) => numbers.length > 0));
    const [pid] = listed.find(([, numbers]) => numbers[depth - 1] === number) ?? [];
    const stat = pid === undefined ? null : read(pid);
    return stat?.parent === parent ? stat : null;
  }

  /** A process may have the number of one that has ended since the last look: nobody is missed for that. */
  function find(number: number): ProcessStat | null {
    const found = look(number);
    if (found !== null) return found;
    known = new Map();
    return look(number);
  }

  return {
    open: (launched, number) => {
      const pid = zygote === null ? findZygote(launched, number) : null;
      if (pid !== null) zygote = { pid, depth: readNumbers(pid).length };
    },
    find,
  };
}

/** A child that was found in a family, for those who watch it. */
export function describeChild(stat: ProcessStat): Leader {
  const { pid, parent } = stat;
  const inheritedBytes = Math.min(stat.residentBytes, readStat(parent)?.residentBytes ?? 0);
  const isApart = readNumbers(pid).length > readNumbers(parent).length;
  return { stat, zygote: parent, inheritedBytes, isApart, isWarden: false };
}

/**
 * The process above all those of a sandbox: orphans come to it. It is pid 1 inside, or the one that was started. Null: that has ended.
 *
 * @param isLauncher whether what was started is not the interpreter itself
 */
export function findUppermost(launched: number, isLauncher: boolean): Leader | null {
  const depth = readNumbers(launched).length;
  const inside = listLaunched(launched).find((pid) => readNumbers(pid).length > depth);
  const stat = readStat(inside ?? launched);
  if (stat === null) return null;
  const isApart = inside !== undefined;
  return { stat, zygote: stat.pid, inheritedBytes: 0, isApart, isWarden: isLauncher && !isApart };
}

/** The zygote, by its number in its own pid namespace; null: it has ended. */
function findZygote(launched: number, number: number): number | null {
  const below = listLaunched(launched).filter((pid) => pid !== launched);
  const zygote = below.find((pid) => readNumbers(pid).at(-1) === number);
  return zygote ?? (readNumbers(launched).at(-1) === number ? launched : null);
}

/** The process that was started and those below it, generation by generation, until the zygote is certainly among them. */
function listLaunched(launched: number): readonly number[] {
  const found = [launched];
  for (const pid of found) if (found.length < MAX_LAUNCHERS) found.push(...listChildren(pid));
  return found;
}
