import { formatArgument, formatOption, COMMON_OPTIONS } from "./src/interpret.ts";
import { COMMANDS, COMMAND_GROUPS } from "./src/commands/commands.ts";
import type { Command, Option } from "./src/base/command.ts";

const INTRODUCTION = `<!-- Written by \`npm run gen\`. -->

# The command line tool

\`platform\` creates, tests, deploys and runs services. It needs Node.js 18 or newer; \`platform serve\` also needs Python 3.11 or newer.

## All commands

- \`--json\` prints exactly one JSON value on standard output; for a failure it is \`{"error": {"code", "detail", ...}}\`. Progress and messages go to standard error.
- Prompts need a terminal and are disabled by \`--json\`. Every prompt can be replaced by an option or argument.
- A group whose list takes no argument shows it without a command: \`platform tokens\` is \`platform tokens ls\`.
- Exit codes: 0 success, 1 failure (including a failed build or job), 2 wrong usage, 130 interrupted by Ctrl-C.
- \`--no-color\` and the variable \`NO_COLOR\` disable colours.
- TLS certificates are verified. To trust your own certificate authority, set \`NODE_EXTRA_CA_CERTS\` to its file.

## Configuration

The login is stored in \`config.json\` in the user's configuration folder (on Linux \`~/.config/platform\`). Only the user can read the file. Network errors do not remove the login.

| variable | meaning |
|---|---|
| \`PLATFORM_PERSONAL_ACCESS_TOKEN\` | takes precedence over the stored token |
| \`PLATFORM_ORGANIZATION_ID\` | takes precedence over the stored context |
| \`PLATFORM_ENDPOINT\` | takes precedence over the stored endpoint |
| \`PLATFORM_CONFIG_DIR\` | another folder for \`config.json\` |
| \`PLATFORM_CACHE_DIR\` | another folder for the Python environments of \`serve\` and what they are made with, of which all goes that was not used for two months, and for notes of uploads that were interrupted |
| \`PLATFORM_DEBUG\` | set to 1: print the stack trace of an error |
`;

/** Creates the page docs/guide/cli.md from the declarations of the commands. */
export function createCliReference(): string {
  return [INTRODUCTION, describeGroups(), ...COMMANDS.map(describeCommand)].join("\n");
}

function describeGroups(): string {
  const rows = COMMAND_GROUPS.map(
    ({ title, commands }) => `| ${title} | ${commands.map(({ name }) => `\`${name}\``).join(", ")} |`,
  );
  return ["## Commands by subject", "", "| subject | commands |", "|---|---|", ...rows, ""].join("\n");
}

function describeCommand(command: Command): string {
  const words = Object.entries(command.arguments).map(([name, argument]) => formatArgument(name, argument));
  const usage = ["platform", command.name, ...words, "[options]"].join(" ");
  const parts = [
    `## ${command.name}`,
    `${command.summary}.`,
    ...command.description,
    `\`\`\`\n${usage}\n\`\`\``,
    ...describeTable(
      "argument",
      Object.entries(command.arguments).map(([name, { description }]) => [name, description]),
    ),
    ...describeTable("option", Object.entries({ ...command.options, ...COMMON_OPTIONS }).map(describeOption)),
    `\`\`\`sh\n${command.examples.map(({ command: line, comment }) => `# ${comment}\n${line}`).join("\n")}\n\`\`\`\n`,
  ];
  return parts.join("\n\n");
}

function describeOption([name, option]: readonly [string, Option]): readonly [string, string] {
  const choices = option.kind === "text" && option.choices ? `; one of ${option.choices.join(", ")}` : "";
  const fallback =
    option.kind !== "flag" && option.default !== undefined ? `; default \`${option.default}\`` : "";
  return [formatOption(name, option), `${option.description}${choices}${fallback}`];
}

function describeTable(
  title: string,
  rows: readonly (readonly [string, string] | readonly string[])[],
): readonly string[] {
  if (rows.length === 0) return [];
  const lines = rows.map(
    ([name = "", text = ""]) => `| \`${name.replaceAll("|", "\\|")}\` | ${text.replaceAll("|", "\\|")} |`,
  );
  return [[`| ${title} | |`, "|---|---|", ...lines].join("\n")];
}
