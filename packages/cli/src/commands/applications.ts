import { defineCommand } from "../base/command.ts";
import { cleanText } from "../base/output.ts";
import { openSession } from "../base/session.ts";
import { findApplication, listApplications } from "../project/find-application.ts";

const APPLICATION = { description: "Id or name of the application", required: true } as const;

/** `platform applications ls`. */
export const listApplicationsCommand = defineCommand({
  name: "applications ls",
  isDefault: true,
  summary: "List the applications of the organisation",
  description: ["An application is who calls services; it holds access keys and subscriptions."],
  arguments: {},
  options: {},
  examples: [{ command: "platform applications ls", comment: "A table" }],
  run: async (context) => {
    const { client } = await openSession(context);
    const applications = await listApplications(client);
    context.output.printTable(
      ["NAME", "ID", "CREATED"],
      applications.map(({ id, name, createdAt }) => [cleanText(name), id, createdAt]),
      "No applications yet. Make one with 'platform applications create'.",
    );
    return { json: applications, succeeded: true };
  },
});

/** `platform applications create`. */
export const createApplicationCommand = defineCommand({
  name: "applications create",
  summary: "Create an application",
  description: ["It has no access key yet: 'platform keys create' makes one."],
  arguments: { name: { description: "Display name", required: true } },
  options: {},
  examples: [{ command: "platform applications create shop", comment: "Prints its id" }],
  run: async (context, { arguments: { name } }) => {
    const { client } = await openSession(context);
    const created = await client.createApplication({ body: { name } });
    context.output.print(created.id);
    return { json: created, succeeded: true };
  },
});

/** `platform applications rename`. */
export const renameApplicationCommand = defineCommand({
  name: "applications rename",
  summary: "Rename an application",
  description: ["Its keys and subscriptions stay as they are."],
  arguments: { application: APPLICATION, name: { description: "The new name", required: true } },
  options: {},
  examples: [{ command: "platform applications rename shop web-shop", comment: "By its name" }],
  run: async (context, { arguments: { application, name } }) => {
    const { client } = await openSession(context);
    const { id } = await findApplication(client, application);
    const renamed = await client.putApplication({ params: { id }, body: { name } });
    context.output.print(`Renamed to '${cleanText(renamed.name)}'.`);
    return { json: renamed, succeeded: true };
  },
});

/** `platform applications rm`. */
export const removeApplicationCommand = defineCommand({
  name: "applications rm",
  summary: "Delete an application",
  description: [
    "Its access keys are revoked and its subscriptions removed, whose executions are cancelled. Needs the role owner.",
  ],
  arguments: { application: APPLICATION },
  options: {},
  examples: [{ command: "platform applications rm shop", comment: "By its name" }],
  run: async (context, { arguments: { application } }) => {
    const { client } = await openSession(context);
    const { id, name } = await findApplication(client, application);
    await client.deleteApplication({ params: { id } });
    context.output.print(`Deleted '${cleanText(name)}'.`);
    return { json: { id, name, deleted: true }, succeeded: true };
  },
});
