import type { SyscallName } from "./syscalls.ts";

/**
 * What becomes of a call. An error is what the caller gets instead; ENOSYS where libraries have another way for kernels without
 * the call. `done` pretends success.
 */
export type Verdict = "allow" | "done" | "EPERM" | "ENOSYS" | "EAFNOSUPPORT" | "EPROTONOSUPPORT";

/**
 * Whether an argument has one of these values; with a mask, whether its bits below the mask have. Only the lower 32 bits are
 * compared, as the kernel itself takes no more of the arguments that rules look at. What a pointer points to cannot be seen.
 */
export interface Condition {
  /** 0 to 5. */
  readonly argument: number;
  readonly mask?: number;
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
