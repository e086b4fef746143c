import { findNumber } from "./syscalls.ts";
import type { Architecture, SyscallName } from "./syscalls.ts";

/*
 * Assembles rules into a program of classic BPF, as seccomp(2) takes it. A program is a list of blocks: each returns a verdict
 * for the calls that it concerns, and all others fall through it to the next. No block jumps out of itself, so blocks need no
 * labels, and the accumulator holds the number of the call at the start of each.
 *
 * The kernel remembers which numbers are allowed whatever their arguments (since Linux 5.11) and runs no program for them: what
 * the length of a program costs is paid by the few calls whose arguments are looked at.
 */

/**
 * What becomes of a call. An error is what the caller gets instead; ENOSYS where libraries have another way for kernels without
 * the call. `done` pretends success.
 */
type Verdict = "allow" | "done" | "EPERM" | "ENOSYS" | "EAFNOSUPPORT" | "EPROTONOSUPPORT";

/**
 * Whether an argument has one of these values; with a mask, whether its bits below the mask have. Only the lower 32 bits are
 * compared, or the upper ones: the kernel itself takes no more of most arguments that rules look at. What a pointer points to cannot be seen.
 */
interface Condition {
  /** 0 to 5. */
  readonly argument: number;
  readonly mask?: number;
  /** Default: the lower. */
  readonly half?: "upper";
  readonly isOneOf: readonly number[];
}

/** A verdict for calls of which all conditions hold. */
export interface Clause {
  readonly when: readonly Condition[];
  readonly verdict: Verdict;
}

/** Decides finally over the calls that it names: by their arguments, or whatever those are. The first rule that names a call counts. */
export type Rule = { readonly calls: readonly SyscallName[] } & (
  | { readonly verdict: Verdict }
  | { readonly clauses: readonly Clause[]; readonly otherwise: Verdict }
);

/** One instruction (struct sock_filter): operation, offsets of the next instruction where a test holds and where not, operand. */
interface Instruction {
  readonly code: number;
  readonly whenTrue: number;
  readonly whenFalse: number;
  readonly operand: number;
}

const INSTRUCTION_BYTES = 8;
/** Offsets of jumps are bytes. */
const MAX_JUMP = 255;

/** Operations (include/uapi/linux/bpf_common.h): load a word, jump, jump if equal, jump if at least, and, return. */
const LOAD = 0x20;
const JUMP = 0x05;
const JUMP_IF_EQUAL = 0x15;
const JUMP_IF_AT_LEAST = 0x35;
const AND = 0x54;
const RETURN = 0x06;

/** Offsets in struct seccomp_data. The lower halves of the arguments: both architectures are little-endian. */
const NUMBER_OFFSET = 0;
const ARCHITECTURE_OFFSET = 4;
const ARGUMENTS_OFFSET = 16;
const ARGUMENT_BYTES = 8;

/** AUDIT_ARCH_* of include/uapi/linux/audit.h, which seccomp reports with each call. */
const AUDIT_NUMBERS: Readonly<Record<Architecture, number>> = {
  x86_64: 0xc000_003e,
  aarch64: 0xc000_00b7,
};

/** Calls of the x32 interface have this bit on x86_64 (asm/unistd.h): they reach the same kernel by other numbers. */
const X32_BIT = 0x4000_0000;

/** The last call that the rules were written for, `mseal` of Linux 6.10: what is newer has not been judged. */
const NEWEST_JUDGED = 462;

const RETURN_ALLOW = 0x7fff_0000;
const RETURN_ERRNO = 0x0005_0000;
/** Numbers of errors (asm-generic/errno.h), the same on both architectures. `done` returns success without doing anything. */
const ERRNO: Readonly<Record<Exclude<Verdict, "allow">, number>> = {
  done: 0,
  EPERM: 1,
  ENOSYS: 38,
  EPROTONOSUPPORT: 93,
  EAFNOSUPPORT: 97,
};

/** Assembles the rules in their order; a call that no rule concerns is allowed. The program is the bytes of an array of struct sock_filter. */
export function assembleProgram(rules: readonly Rule[], architecture: Architecture): Buffer {
  const program = [
    ...checkArchitecture(architecture),
    ...rules.flatMap((rule) => assembleRule(rule, architecture)),
    decide("allow"),
  ];
  const bytes = Buffer.alloc(program.length * INSTRUCTION_BYTES);
  program.forEach(({ code, whenTrue, whenFalse, operand }, index) => {
    const offset = index * INSTRUCTION_BYTES;
    bytes.writeUInt16LE(code, offset);
    bytes.writeUInt8(whenTrue, offset + 2);
    bytes.writeUInt8(whenFalse, offset + 3);
    bytes.writeUInt32LE(operand, offset + 4);
  });
  return bytes;
}

/**
 * Refuses what reaches the kernel by other numbers than those of the table: 32-bit calls, x32, and calls that are newer than the
 * rules. ENOSYS is what a kernel without them says.
 */
function checkArchitecture(architecture: Architecture): Instruction[] {
  return [
    load(ARCHITECTURE_OFFSET),
    test(JUMP_IF_EQUAL, AUDIT_NUMBERS[architecture], 1, 0),
    decide("ENOSYS"),
    load(NUMBER_OFFSET),
    ...(architecture === "x86_64" ? [test(JUMP_IF_AT_LEAST, X32_BIT, 0, 1), decide("ENOSYS")] : []),
    test(JUMP_IF_AT_LEAST, NEWEST_JUDGED + 1, 0, 1),
    decide("ENOSYS"),
  ];
}

function assembleRule(rule: Rule, architecture: Architecture): Instruction[] {
  const numbers = rule.calls
    .map((name) => findNumber(name, architecture))
    .filter((number) => number !== null)
    .sort((left, right) => left - right);
  if (numbers.length === 0) return [];
  const body = "verdict" in rule ? [decide(rule.verdict)] : judgeArguments(rule.clauses, rule.otherwise);
  return [
    // The body begins behind the jump that follows the tests.
    ...numbers.map((number, index) => test(JUMP_IF_EQUAL, number, numbers.length - index, 0)),
    { code: JUMP, whenTrue: 0, whenFalse: 0, operand: body.length },
    ...body,
  ];
}

/** The verdict of the first clause whose conditions all hold. Always returns: the accumulator no longer holds the number. */
function judgeArguments(clauses: readonly Clause[], otherwise: Verdict): Instruction[] {
  return [...clauses.flatMap(assembleClause), decide(otherwise)];
}

function assembleClause({ when, verdict }: Clause): Instruction[] {
  // From the last to the first, as each condition jumps over all that follow it.
  return when.reduceRight<Instruction[]>(
    (rest, condition) => [...assembleCondition(condition, rest.length), ...rest],
    [decide(verdict)],
  );
}

function assembleCondition({ argument, mask, half, isOneOf }: Condition, skipped: number): Instruction[] {
  const offset = half === undefined ? 0 : ARGUMENT_BYTES / 2;
  return [
    load(ARGUMENTS_OFFSET + argument * ARGUMENT_BYTES + offset),
    ...(mask === undefined ? [] : [{ code: AND, whenTrue: 0, whenFalse: 0, operand: mask }]),
    ...isOneOf.map((value, index) => test(JUMP_IF_EQUAL, value, isOneOf.length - index, 0)),
    { code: JUMP, whenTrue: 0, whenFalse: 0, operand: skipped },
  ];
}

function load(offset: number): Instruction {
  return { code: LOAD, whenTrue: 0, whenFalse: 0, operand: offset };
}

function test(code: number, operand: number, whenTrue: number, whenFalse: number): Instruction {
  if (whenTrue > MAX_JUMP || whenFalse > MAX_JUMP)
    throw new RangeError("A rule has too many calls or values.");
  return { code, whenTrue, whenFalse, operand };
}

function decide(verdict: Verdict): Instruction {
  const operand = verdict === "allow" ? RETURN_ALLOW : RETURN_ERRNO + ERRNO[verdict];
  return { code: RETURN, whenTrue: 0, whenFalse: 0, operand };
}
