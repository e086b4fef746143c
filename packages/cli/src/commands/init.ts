import { DEFAULT_RESOURCES, SERVICE_NAME_PATTERN } from "@platform/contract/project";
import { defineCommand } from "../base/command.ts";
import type { CommandContext } from "../base/context.ts";
import { createUsageError } from "../base/errors.ts";
import { DEFAULT_TEMPLATE, TEMPLATES, createProject } from "../project/create-project.ts";

const LARGEST_CPU = 256;
const LARGEST_MEMORY = 4096;

/** `platform init`: writes a new project folder below the current one. Sends no request. */
export const initCommand = defineCommand({
  name: "init",
  summary: "Create a project folder from a template",
  description: [
    "Creates ./<name> with platform.json, .platformignore, README.md, requirements.txt, src/program.py and example input files. Works offline.",
    "On a terminal, asks for the options that are not given. Without a terminal, --name is required and the others have defaults.",
    ...TEMPLATES.map(({ id, label }) => `Template ${id}: ${label}.`),
  ],
  arguments: {},
  options: {
    name: {
      kind: "text",
      short: "n",
      placeholder: "name",
      description: "Name of the service and its folder",
    },
    template: {
      kind: "text",
      placeholder: "template",
      description: `Starter template (default: ${DEFAULT_TEMPLATE})`,
      choices: TEMPLATES.map(({ id }) => id),
    },
    cpu: {
      kind: "number",
      placeholder: "vcpus",
      description: `vCPUs of one execution, such as 1 or 0.5 (default: ${DEFAULT_RESOURCES.cpu})`,
      minimum: 0.001,
      maximum: LARGEST_CPU,
    },
    memory: {
      kind: "number",
      placeholder: "gb",
      description: `Memory of one execution in GB (default: ${DEFAULT_RESOURCES.memory})`,
      minimum: 0.001,
      maximum: LARGEST_MEMORY,
    },
  },
  examples: [
    { command: "platform init", comment: "Ask for all options" },
    { command: "platform init --name tsp --template numpy --cpu 2 --memory 4", comment: "Ask for nothing" },
  ],
  run: async (context, { options }) => {
    const name = options.name ?? (await askName(context));
    const reason = checkName(name);
    if (reason !== undefined) throw createUsageError(`'${name}' is not a valid service name. ${reason}`);
    const template = options.template ?? (await askTemplate(context));
    const cpu =
      options.cpu ?? (await askAmount(context, "vCPUs of one execution", DEFAULT_RESOURCES.cpu, LARGEST_CPU));
    const memory =
      options.memory ??
      (await askAmount(context, "Memory of one execution in GB", DEFAULT_RESOURCES.memory, LARGEST_MEMORY));
    const created = await createProject(context.directory, { name, template, resources: { cpu, memory } });
    context.output.print(`Created ${created.directory} (${created.files.length} files).`);
    context.output.print(`Next  cd ${name}`);
    context.output.print("      platform serve     try it on this machine");
    context.output.print("      platform up        deploy it");
    return { json: { name, template, ...created }, succeeded: true };
  },
});

/** Why the name is refused, or undefined. */
function checkName(name: string): string | undefined {
  return new RegExp(SERVICE_NAME_PATTERN, "u").test(name)
    ? undefined
    : "Use at most 63 lower-case letters, digits and hyphens; the first and last must not be a hyphen.";
}

async function askName(context: CommandContext): Promise<string> {
  if (context.prompts !== null) {
    return context.prompts.askText({ message: "Service name", check: checkName });
  }
  throw createUsageError(
    "A name is required, and there is no terminal to ask for it.",
    "Pass it: platform init --name my-service",
  );
}

async function askTemplate(context: CommandContext): Promise<string> {
  if (context.prompts === null) return DEFAULT_TEMPLATE;
  const choices = TEMPLATES.map(({ id, label }) => ({ value: id, label: id, hint: label }));
  return context.prompts.choose("Starter template", choices, DEFAULT_TEMPLATE);
}

async function askAmount(
  context: CommandContext,
  message: string,
  initial: number,
  maximum: number,
): Promise<number> {
  if (context.prompts === null) return initial;
  const isFit = (text: string) =>
    /^\d+(\.\d{1,3})?$/.test(text) && Number(text) > 0 && Number(text) <= maximum;
  const answer = await context.prompts.askText({
    message,
    initial: String(initial),
    check: (text) =>
      isFit(text) ? undefined : `Enter a number above 0, at most ${maximum}, such as 1 or 0.5.`,
  });
  return Number(answer);
}
