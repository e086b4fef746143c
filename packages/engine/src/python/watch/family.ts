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
  readonly find: (number: number) => Leader | null;
}

/** A family that is not known yet. */
export function createFamily(): Family {
  let zygote: { readonly pid: number; readonly depth: number } | null = null;
  /** Children that were found before: the one that is looked for is among the others. */
  let known: ReadonlySet<number> = new Set();

  function find(number: number): Leader | null {
    if (zygote === null) return null;
    const { pid: parent, depth } = zygote;
    const children = listChildrenOfFirst(parent);
    const candidates = [
      ...children.filter((pid) => !known.has(pid)),
      ...children.filter((pid) => known.has(pid)),
    ];
    for (const pid of candidates) {
      const numbers = readNumbers(pid);
      const stat = numbers[depth - 1] === number ? readStat(pid) : null;
      if (stat === null) continue;
      known = new Set([pid, ...children.filter((child) => known.has(child))]);
      const inheritedBytes = Math.min(stat.residentBytes, readStat(parent)?.residentBytes ?? 0);
      return { stat, zygote: parent, inheritedBytes, isApart: numbers.length > depth, isWarden: false };
    }
    return null;
  }

  return {
    open: (launched, number) => {
      const pid = zygote === null ? findZygote(launched, number) : null;
      if (pid !== null) zygote = { pid, depth: readNumbers(pid).length };
    },
    find,
  };
}

/**
 * The process above all those of an import: orphans come to it. It is the launcher's, pid 1 of the sandbox, or the zygote where there is no
 * launcher. Null: the zygote has ended. See `findZygote`.
 */
export function findImporter(launched: number, number: number): Leader | null {
  const zygote = findZygote(launched, number);
  const stat = zygote === null ? null : readStat(zygote);
  const above = stat === null || stat.parent === process.pid ? stat : readStat(stat.parent);
  if (above === null) return null;
  const isApart = readNumbers(above.pid).length > readNumbers(process.pid).length;
  const isWarden = !isApart && above.pid !== zygote;
  return { stat: above, zygote: above.pid, inheritedBytes: 0, isApart, isWarden };
}

/** The zygote, by its number in its own pid namespace; null: it has ended. */
function findZygote(launched: number, number: number): number | null {
  const queue = [launched];
  for (const pid of queue) {
    if (readNumbers(pid).at(-1) === number && pid !== launched) return pid;
    if (queue.length < MAX_LAUNCHERS) queue.push(...listChildren(pid));
  }
  return readNumbers(launched).at(-1) === number ? launched : null;
}
