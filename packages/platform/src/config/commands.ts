import { SettingError } from "./settings.ts";

/** What the program is started for: to serve its roles until it is stopped, or to do one thing and end. */
export const COMMANDS = {
  "rotate-signing-key":
    "Make a new signing key; the others go on verifying until the access tokens that they signed have expired",
  "retire-signing-keys":
    "The same for keys that leaked: the others are retired now, and all access tokens issued so far refused",
  "check-usage":
    "Count usage again from the executions that are still stored, and name where it differs from what is kept; nothing is changed",
  "add-usage":
    "Add the usage that check-usage finds missing, such as that of executions which a process of a former release ended during an upgrade",
  storage:
    "Name the stored objects (archives of projects) that the next round of housekeeping removes, and those whose content is missing though they are needed; nothing is changed",
  retention:
    "Print what the next round of housekeeping removes: days, executions, logs and bytes of each service, and stored objects; with --json as JSON. Nothing is changed",
  "grant-operator":
    "Make the user with this address an operator of the platform, as the first login is; works beside a running platform, within seconds",
  "revoke-operator": "Make the user with this address an operator no longer; the last one stays",
  reseal:
    "Encrypt with --secret what is encrypted with --other-secret: secrets of services and organisations, and signing keys",
} as const;
/** Why the program was started: `serve` when no command is named. */
export type Command = "serve" | keyof typeof COMMANDS;

/** What follows the commands that are about something. */
export const COMMAND_ARGUMENTS: Readonly<Partial<Record<Command, string>>> = {
  "grant-operator": "EMAIL",
  "revoke-operator": "EMAIL",
};

/** A command, and what it is about. */
export interface NamedCommand {
  readonly command: Command;
  /** Null: the command has no argument. */
  readonly argument: string | null;
}

/** The command that these arguments name, without the settings. `json`: whether --json is among them. @throws SettingError */
export function readCommand(words: readonly string[], json: boolean): NamedCommand {
  const [word = "serve", argument = null, more] = words;
  const isKnown = word === "serve" || Object.hasOwn(COMMANDS, word);
  const command = word as Command;
  const wanted = COMMAND_ARGUMENTS[command];
  if (!isKnown || more !== undefined || (argument !== null && wanted === undefined))
    throw new SettingError(`"${words.join(" ")}" is no command. --help lists commands and settings.`);
  if (wanted !== undefined && argument === null)
    throw new SettingError(`The command ${command} needs its argument: npm start -- ${command} ${wanted}.`);
  if (json && command !== "retention")
    throw new SettingError("--json belongs to the command retention alone. --help lists the settings.");
  return { command, argument };
}
