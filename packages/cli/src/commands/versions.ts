import type { VersionDetails } from "@platform/contract/platform-api/services";
import { defineCommand } from "../base/command.ts";
import type { CommandContext } from "../base/context.ts";
import { cleanText } from "../base/output.ts";
import { findService } from "../project/find-service.ts";
import { openSession, readAllPages } from "../base/session.ts";

/** `platform versions`: reads all pages before it prints. */
export const versionsCommand = defineCommand({
  name: "versions",
  summary: "List the versions of a service, or show one",
  description: [
    "Newest first. Without an argument, lists the versions of the project in this folder.",
    "--version shows what one was built of, and whether its input breaks callers of the version before it; with --json also README, schemas and example input.",
  ],
  arguments: { service: { description: "Name or key of the service", required: false } },
  options: {
    version: { kind: "text", placeholder: "X.Y.Z", description: "Only this version, with its details" },
  },
  examples: [
    { command: "platform versions", comment: "Versions of the project in this folder" },
    { command: "platform versions tsp --json", comment: "Versions of another service, for a script" },
    {
      command: "platform versions tsp --version 1.0.0 --json | jq .exampleInput",
      comment: "An input to try it with",
    },
  ],
  run: async (context, { arguments: { service: given }, options: { version } }) => {
    const { client } = await openSession(context);
    const { key, name } = await findService(context, client, given);
    if (version !== undefined) {
      const details = await client.getVersion({ params: { key, version } });
      printDetails(context, details);
      return { json: details, succeeded: true };
    }
    const versions = await readAllPages((query) => client.listVersions({ params: { key }, query }));
    context.output.printTable(
      ["VERSION", "STATE", "CPU", "MEMORY", "CREATED", "RETIRED"],
      versions.map((one) => [
        one.version,
        one.status,
        String(one.resources.cpu),
        `${one.resources.memory} GB`,
        one.createdAt,
        one.retiredAt ?? "-",
      ]),
      `'${name}' has no live version yet.`,
    );
    return { json: versions, succeeded: true };
  },
});

function printDetails({ output }: CommandContext, version: VersionDetails): void {
  const { resources, createdBy, python, sizeBytes, requirements, formerVersion, breakingChange } = version;
  output.print(`Version   ${version.version} (${version.status})`);
  output.print(
    `Needs     ${resources.cpu} vCPUs, ${resources.memory} GB, at most ${version.timeoutSeconds} s`,
  );
  output.print(
    `Created   ${version.createdAt}${createdBy === null ? "" : ` by ${cleanText(createdBy)}`}${version.retiredAt === null ? "" : `, retired ${version.retiredAt}`}`,
  );
  output.print(`Python    ${cleanText(python ?? "not known")}`);
  if (sizeBytes !== null) output.print(`Archive   ${sizeBytes} bytes`);
  if (formerVersion !== null)
    output.print(
      `Input     ${breakingChange === null ? "takes" : "does not take"} what ${formerVersion} takes${breakingChange === null ? "" : `: ${cleanText(breakingChange)}`}`,
    );
  output.print(
    `Installed ${requirements === null ? "not known" : requirements.length === 0 ? "nothing" : "these:"}`,
  );
  for (const line of requirements ?? []) output.print(`  ${cleanText(line)}`);
}
