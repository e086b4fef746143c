import type { Clause, Rule } from "./program.ts";

/*
 * Where kernel.core_pattern begins with `|`, the kernel starts that program of the host, as root, for each process that crashes: also with a
 * core limit of 0, which is for files. Not with one of 1 (fs/coredump.c: it keeps such a program from starting itself). Numbers:
 * include/uapi/asm-generic/resource.h of Linux.
 */

const RLIMIT_CORE = 4;

/** Clauses of prlimit64(2): the limit may be asked for; setting it seems to succeed, as programs that want no dumps of themselves end otherwise. */
export const CORE_LIMIT: readonly Clause[] = [
  {
    when: [
      { argument: 1, isOneOf: [RLIMIT_CORE] },
      { argument: 2, isOneOf: [0] },
      { argument: 2, half: "upper", isOneOf: [0] },
    ],
    verdict: "allow",
  },
  { when: [{ argument: 1, isOneOf: [RLIMIT_CORE] }], verdict: "done" },
];

/** The same of the older call. */
export const OLD_CORE_LIMIT: Rule = {
  calls: ["setrlimit"],
  clauses: [{ when: [{ argument: 0, isOneOf: [RLIMIT_CORE] }], verdict: "done" }],
  otherwise: "allow",
};

/** Keeps the core limit that the runner has set (`isolation.py`). */
export const CORE_LIMITS: readonly Rule[] = [
  { calls: ["prlimit64"], clauses: CORE_LIMIT, otherwise: "allow" },
  OLD_CORE_LIMIT,
];
