import { TrustedExecutable } from "../../../host/trusted-executable.ts";

/** The shell knows descriptors of one digit only. */
const MAX_FD = 9;
/** What shells export by themselves: the program gets the environment that it was given. */
export const SHELL_VARIABLES = "PWD OLDPWD SHLVL";

/** A program and its arguments. */
export interface Command {
  readonly executable: TrustedExecutable;
  readonly args: readonly string[];
}

/**
 * The command, begun inside a group: a shell joins by the inherited descriptors, closes them and becomes the program. Not by writing its
 * process id after the start: what it starts by then (start-up hooks of an environment, say) would stay outside.
 *
 * @param first the descriptor of the first file that a process writes "0" to in order to join
 * @throws Error when a descriptor has more than one digit
 */
export function joinFirst(command: Command, first: number, count: number): Command {
  const numbers = Array.from({ length: count }, (_, index) => first + index);
  if (first + count - 1 > MAX_FD) throw new Error(`Descriptor ${first + count - 1} has more than one digit.`);
  const joins = numbers.map((number) => `echo 0 >&${number} && exec ${number}>&-`);
  const script = [...joins, `unset ${SHELL_VARIABLES}`, 'exec "$0" "$@"'].join(" && ");
  return {
    executable: TrustedExecutable.vouchFor("/bin/sh", "search path"),
    args: ["-c", script, command.executable.path, ...command.args],
  };
}
