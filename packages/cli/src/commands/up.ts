import type { Build } from "@platform/contract/platform-api/builds";
import type { Service } from "@platform/contract/platform-api/services";
import { defineCommand } from "../base/command.ts";
import type { CommandContext } from "../base/context.ts";
import { createUsageError } from "../base/errors.ts";
import { cleanText, formatSize } from "../base/output.ts";
import { openSession } from "../base/session.ts";
import { deployProject } from "../project/deploy.ts";
import type { Deployment } from "../project/deploy.ts";

/** `platform up`: deploys the project in the current folder and follows its build. Fails when the build did not succeed. */
export const upCommand = defineCommand({
  name: "up",
  summary: "Upload the project and make it live as a new version",
  description: [
    "Packs the project (see 'platform compress'), creates the service if it does not exist, uploads the project, and follows the build until the version is live.",
    "The first version is 1.0.0; by default, each later one increments the patch number. Unchanged content does not create a new version, except of an adapter of hardware, which asks its device anew.",
    "If the build fails, its log, a code and the cause are shown and the exit code is 1. Live versions are not affected.",
  ],
  arguments: {},
  options: {
    minor: { kind: "flag", description: "Increment the minor number" },
    major: { kind: "flag", description: "Increment the major number" },
    version: { kind: "text", placeholder: "X.Y.Z", description: "The number of the new version" },
    force: {
      kind: "flag",
      description: "Accept an input schema that is incompatible with versions of the same major number",
    },
  },
  exclusive: [["minor", "major", "version"]],
  examples: [
    { command: "platform up", comment: "Deploy the project in this folder" },
    { command: "platform up --minor", comment: "1.0.3 becomes 1.1.0" },
    {
      command: "platform up --json | jq -r .version",
      comment: "In a pipeline: the exit code is 0 only on success",
    },
  ],
  run: async (context, { options }) => {
    if (options.version !== undefined && !/^\d+\.\d+\.\d+$/.test(options.version))
      throw createUsageError("--version must be three numbers separated by dots, such as 1.4.0.");
    const session = await openSession(context);
    const deployment = await deployProject(context, session, {
      ...(options.version === undefined ? {} : { version: options.version }),
      ...(options.minor ? { bump: "minor" } : {}),
      ...(options.major ? { bump: "major" } : {}),
      ...(options.force ? { force: "true" } : {}),
    });
    const { build, service } = deployment;
    const succeeded = build.status === "SUCCEEDED";
    if (succeeded) printSuccess(context, deployment);
    else printFailure(context, service, build);
    return { json: describe(deployment), succeeded };
  },
});

function printSuccess({ output }: CommandContext, { service, build, packed, changed }: Deployment): void {
  const what = changed
    ? `is live (${formatSize(packed.archive.length)} uploaded)`
    : "is already live with the same content";
  output.print(`${output.paint("green", "✓")} ${service.name} ${build.version} ${what}.`);
  output.print(`Service key  ${service.key}`);
  const { backend } = packed.project;
  const next =
    backend === undefined
      ? ["platform run              run it with input/data.json and input/params.json"]
      : [
          `platform backends show ${backend.id}`,
          `platform quantum run bell.qasm --backend ${backend.id}   run a circuit on it`,
        ];
  for (const [index, line] of [...next, "platform versions         list its versions"].entries())
    output.print(`${index === 0 ? "Next" : "    "}         ${line}`);
}

function printFailure(context: CommandContext, service: Service, build: Build): void {
  const { output } = context;
  const cause = [build.code, build.detail].filter((part) => part !== undefined).join(": ");
  output.note(
    `${output.paintNote("red", "error:")} The build of ${service.name} ${build.version} did not succeed (${build.status}).`,
  );
  if (cause !== "") output.note(cleanText(cause));
  output.note(
    "The log is above. Fix the project and run 'platform up' again. Live versions are not affected.",
  );
}

function describe({ service, build, packed, changed }: Deployment) {
  return {
    serviceKey: service.key,
    name: service.name,
    version: build.version,
    status: build.status,
    changed,
    hash: packed.hash,
    ...(build.code === undefined ? {} : { code: build.code }),
    ...(build.detail === undefined ? {} : { detail: build.detail }),
    ...(build.status === "SUCCEEDED" ? {} : { log: build.log }),
  };
}
