import { Command as Commander, Help, InvalidArgumentError, Option as CommanderOption } from "commander";
import type { CommanderError } from "commander";
import { formatFlag } from "./base/command.ts";
import type {
  Command,
  CommandGroup,
  CommandResult,
  NumberOption,
  Option,
  TextOption,
} from "./base/command.ts";
import { createUsageError } from "./base/errors.ts";

/** Runs one command with its parsed input. */
type Execute = (command: Command, input: Parameters<Command["run"]>[1]) => Promise<CommandResult | undefined>;

/** The commands by subject, and where help and usage errors are written. */
export interface ProgramOptions {
  readonly groups: readonly CommandGroup[];
  /** Printed by `--version`. */
  readonly version: string;
  readonly execute: Execute;
  readonly writeOut: (text: string) => void;
  readonly writeErr: (text: string) => void;
}

/** Options that every command has. */
export const COMMON_OPTIONS = {
  json: { kind: "flag", description: "Print one JSON value on standard output; never prompt" },
  noColor: { kind: "flag", description: "Disable colours, like the variable NO_COLOR" },
} as const satisfies Record<string, Option>;

/** Creates the program for commander. Its `parseAsync` rejects with CommanderError for help, version and usage errors. */
export function createProgram(options: ProgramOptions): Commander {
  const program = new Commander("platform")
    .description("Turns a Python function into an asynchronous HTTP service.")
    .usage("<command> [arguments] [options]")
    .version(options.version, "-V, --version", "Print the version")
    .helpOption("-h, --help", "Show this help")
    .helpCommand(false)
    .showHelpAfterError("Run 'platform help' for all commands.")
    .enablePositionalOptions()
    .exitOverride()
    .configureOutput({ writeOut: options.writeOut, writeErr: options.writeErr })
    .addHelpText("after", HELP_FOOTER);
  for (const command of options.groups.flatMap(({ commands }) => commands)) {
    const [group = "", action] = command.name.split(" ");
    if (action === undefined) addCommand(program, { word: group, command }, options);
    else addCommand(findGroup(program, group, options), { word: action, command }, options);
  }
  addHelpCommand(program);
  // Last, since commands inherit it.
  return program.configureHelp({ formatHelp: (command, helper) => formatGroups(command, helper, options) });
}

/** `platform help [command]`: commander's own answers an unknown command with the help of all. */
function addHelpCommand(program: Commander): void {
  program
    .command("help", { hidden: true })
    .argument("[words...]", "Words of a command")
    .summary("Show the help of a command")
    .helpOption(false)
    .allowUnknownOption()
    .action(async (words: readonly string[]) => {
      let found = program;
      for (const word of words.filter((given) => !given.startsWith("-"))) {
        if (found.commands.length === 0) break;
        const next = found.commands.find((command) => command.name() === word);
        // Refuses it, as wherever else a command is unknown.
        if (next === undefined) await found.parseAsync([word], { from: "user" });
        else found = next;
      }
      found.help();
    });
}

/**
 * The words without `--help` where the command is unknown: commander would answer with the help of all, as if it were known. Where a group
 * has a command that is its default, the word may be an argument of that.
 */
export function dropHelpOfUnknown(
  program: Commander,
  words: readonly string[],
  { groups }: Pick<ProgramOptions, "groups">,
): readonly string[] {
  const defaults = groups.flatMap(({ commands }) => commands.filter(({ isDefault }) => isDefault === true));
  let found = program;
  for (const word of words.filter((given) => !given.startsWith("-"))) {
    const group = found.name();
    if (found.commands.length === 0 || defaults.some(({ name }) => name.startsWith(`${group} `)))
      return words;
    const next = found.commands.find((command) => command.name() === word);
    if (next === undefined) return words.filter((given) => given !== "--help" && given !== "-h");
    found = next;
  }
  return words;
}

/**
 * The commands for these words. A list that takes no argument is not the default of its group where a word follows that is no command: it is named
 * as an unknown command then, with the nearest one, and not as too many arguments of the list.
 */
export function chooseDefaults(
  groups: readonly CommandGroup[],
  words: readonly string[],
): readonly CommandGroup[] {
  const [group = "", next = "-"] = words[0] === "help" ? words.slice(1) : words;
  const all = groups.flatMap(({ commands }) => commands);
  const isStray = !next.startsWith("-") && all.every(({ name }) => name !== `${group} ${next}`);
  const list = all.find(({ name, isDefault }) => isDefault === true && name.startsWith(`${group} `));
  if (!isStray || list === undefined || Object.keys(list.arguments).length > 0) return groups;
  const { isDefault: _isDefault, ...named } = list;
  return groups.map((each) => ({
    ...each,
    commands: each.commands.map((command) => (command === list ? named : command)),
  }));
}

/** The help of the program, with its commands by subject. */
function formatGroups(program: Commander, helper: Help, { groups }: ProgramOptions): string {
  const plain = new Help();
  plain.visibleCommands = () => [];
  const commands = helper.visibleCommands(program);
  const width = helper.longestSubcommandTermLength(program, helper);
  const own = new Set(groups.flatMap(({ commands: all }) => all.map(({ name }) => name)));
  const lines = groups.flatMap((group) => {
    const words = [...new Set(group.commands.map(({ name }) => name.split(" ")[0]))];
    const shown = words.flatMap((word) => commands.filter((command) => command.name() === word));
    // Of commands that begin with one word, each subject shows its own.
    const describe = (command: Commander) =>
      own.has(command.name())
        ? helper.subcommandDescription(command)
        : summarizeActions(command.name(), { groups: [group] });
    const toLine = (command: Commander) =>
      `  ${helper.subcommandTerm(command).padEnd(width)}  ${describe(command)}`;
    return ["", `${group.title}:`, ...shown.map(toLine)];
  });
  return `${plain.formatHelp(program, plain)}${lines.join("\n")}\n`;
}

/** The second words of the commands that begin with this one. */
function listActions(word: string, { groups }: Pick<ProgramOptions, "groups">): string {
  const names = groups.flatMap(({ commands }) => commands.map(({ name }) => name.split(" ")));
  return names
    .flatMap(([group, action]) => (group === word && action !== undefined ? [action] : []))
    .join(", ");
}

/** What the help of all says of commands that begin with one word. */
function summarizeActions(word: string, options: Pick<ProgramOptions, "groups">): string {
  return `${listActions(word, options)}: 'platform ${word}' says more`;
}

/** What the help of all says of a command: also which others begin with it. */
function summarize({ name, summary }: Command, options: ProgramOptions): string {
  const actions = listActions(name, options);
  return actions === "" ? summary : `${summary}; ${actions}: 'platform ${name} --help' says more`;
}

/** The command that others belong to whose names begin with its word, as `tokens` of `tokens create`. */
function findGroup(program: Commander, word: string, options: ProgramOptions): Commander {
  const known = program.commands.find((command) => command.name() === word);
  if (known !== undefined) return known;
  return program
    .command(word)
    .usage("<command> [arguments] [options]")
    .summary(summarizeActions(word, options))
    .helpOption("-h, --help", "Show this help")
    .showHelpAfterError(`Run 'platform ${word} --help' for its commands, 'platform help' for all.`)
    .helpCommand(false);
}

const HELP_FOOTER = `
Every command takes --json and --no-color; 'platform <command> --help' shows examples.
Exit codes: 0 success, 1 failure, 2 wrong usage, 130 interrupted.`;

function addCommand(
  parent: Commander,
  { word, command }: { readonly word: string; readonly command: Command },
  options: ProgramOptions,
): void {
  const names = Object.keys(command.arguments);
  const child = parent
    .command(word, { isDefault: command.isDefault === true })
    .summary(summarize(command, options))
    .description([`${command.summary}.`, ...command.description].join("\n\n"))
    .helpOption("-h, --help", "Show this help")
    .showHelpAfterError(`Run 'platform ${command.name} --help' for usage and examples.`)
    .addHelpText("after", formatExamples(command));
  for (const [name, argument] of Object.entries(command.arguments)) {
    child.argument(formatArgument(name, argument), argument.description);
  }
  for (const [name, option] of Object.entries({ ...command.options, ...COMMON_OPTIONS })) {
    child.addOption(createOption(name, option));
  }
  child.action(async (...received: unknown[]) => {
    const values = child.opts<Record<string, string | number | boolean | undefined>>();
    const chosen = withFlagDefaults(command, values);
    checkExclusive(command, chosen);
    const given = names.map((name, index) => [name, readArgument(name, received[index])] as const);
    await options.execute(command, { arguments: Object.fromEntries(given), options: chosen });
  });
}

/** Formats an argument for commander and the reference: `<files...>`. */
export function formatArgument(
  name: string,
  { required, isList }: { readonly required: boolean; readonly isList?: true },
): string {
  const word = isList === true ? `${name}...` : name;
  return required ? `<${word}>` : `[${word}]`;
}

function readArgument(name: string, value: unknown): string | readonly string[] | undefined {
  if (value === "") throw createUsageError(`The ${name} must not be empty.`);
  if (Array.isArray(value)) return value.map((each) => String(readArgument(name, each)));
  return typeof value === "string" ? value : undefined;
}

function withFlagDefaults(
  command: Command,
  values: Record<string, string | number | boolean | undefined>,
): Record<string, string | number | boolean | undefined> {
  const chosen: Record<string, string | number | boolean | undefined> = {};
  for (const [name, option] of Object.entries(command.options)) {
    chosen[name] = option.kind === "flag" ? values[name] === true : values[name];
  }
  return chosen;
}

function checkExclusive(
  command: Command,
  values: Readonly<Record<string, string | number | boolean | undefined>>,
): void {
  for (const group of command.exclusive) {
    const given = group.filter((name) => values[name] !== undefined && values[name] !== false);
    if (given.length > 1) {
      throw createUsageError(
        `Only one of ${given.map(formatFlag).join(" and ")} may be given.`,
        `Run 'platform ${command.name} --help' for usage and examples.`,
      );
    }
  }
}

/** Formats the flags of an option for commander and the reference: `-p, --port <port>`. */
export function formatOption(name: string, option: Option): string {
  const flag = formatFlag(name);
  const value = option.kind === "flag" ? "" : ` <${option.placeholder}>`;
  return `${option.short === undefined ? "" : `-${option.short}, `}${flag}${value}`;
}

function createOption(name: string, option: Option): CommanderOption {
  const created = new CommanderOption(formatOption(name, option), option.description);
  if (option.kind === "flag") return created;
  if (option.default !== undefined) created.default(option.default);
  if (option.kind === "number") return created.argParser((text: string) => parseNumber(text, option));
  if (option.choices !== undefined) return created.choices(option.choices);
  return created.argParser((text: string) => parseText(text, option));
}

function parseText(text: string, option: TextOption): string {
  if (text !== "") return text;
  throw new InvalidArgumentError(`The ${option.placeholder} must not be empty.`);
}

function parseNumber(text: string, option: NumberOption): number {
  const value = /^\d+(\.\d+)?$/.test(text) ? Number(text) : Number.NaN;
  const fits =
    value >= option.minimum &&
    value <= option.maximum &&
    (option.isInteger !== true || Number.isInteger(value));
  if (fits) return value;
  const kind = option.isInteger === true ? "whole number" : "number";
  throw new InvalidArgumentError(`It must be a ${kind} from ${option.minimum} to ${option.maximum}.`);
}

function formatExamples(command: Command): string {
  const lines = command.examples.flatMap(({ command: line, comment }) => [`  # ${comment}`, `  $ ${line}`]);
  return `\nExamples:\n${lines.join("\n")}`;
}

/** Whether the user asked for help or the version, as opposed to wrong usage. */
export function isHelpOrVersion(error: CommanderError): boolean {
  return error.exitCode === 0;
}
