import { defineCommand } from "../base/command.ts";
import { UserError } from "../base/errors.ts";
import { cleanText } from "../base/output.ts";
import { openSession, readAllPages } from "../base/session.ts";

/** `platform organisations ls`: reads all pages before it prints. */
export const listOrganisationsCommand = defineCommand({
  name: "organisations ls",
  isDefault: true,
  summary: "List the organisations that you are a member of",
  description: ["'platform set-context' chooses the one to work in, 'platform whoami' shows it."],
  arguments: {},
  options: {},
  examples: [{ command: "platform organisations ls", comment: "A table" }],
  run: async (context) => {
    const { client } = await openSession(context);
    const organisations = await readAllPages((query) => client.listOrganizations({ query }));
    context.output.printTable(
      ["NAME", "SLUG", "ROLE", "ID"],
      organisations.map(({ name, slug, role, id }) => [cleanText(name), slug, role, id]),
    );
    return { json: organisations, succeeded: true };
  },
});

/** `platform organisations create`. */
export const createOrganisationCommand = defineCommand({
  name: "organisations create",
  summary: "Create an organisation and print its id",
  description: [
    "You become its owner. 'platform set-context' works in it then, 'platform invite' invites others.",
  ],
  arguments: { name: { description: "Display name", required: true } },
  options: {
    slug: {
      kind: "text",
      placeholder: "slug",
      description: "Unique short name, for URLs; made of the name when it is missing",
    },
  },
  examples: [{ command: 'platform organisations create "Quantum Lab" --slug lab', comment: "Prints its id" }],
  run: async (context, { arguments: { name }, options: { slug } }) => {
    const { client } = await openSession(context);
    const created = await client.createOrganization({
      body: { name, ...(slug === undefined ? {} : { slug }) },
    });
    context.output.print(created.id);
    context.output.note(`To work in it: platform set-context ${created.id}`);
    return { json: created, succeeded: true };
  },
});

/** `platform organisations rm`. */
export const removeOrganisationCommand = defineCommand({
  name: "organisations rm",
  summary: "Delete an organisation with its applications, keys and subscriptions",
  description: [
    "Its versions are retired. Refused while it has executions or builds that have not ended, or subscriptions of others. Only owners can; your own organisation stays.",
    "The slug or id has to be given, so that none is deleted that was only the one in use.",
  ],
  arguments: { organisation: { description: "Slug or id of the organisation", required: true } },
  options: {},
  examples: [{ command: "platform organisations rm lab", comment: "There is no way back" }],
  run: async (context, { arguments: { organisation: wanted } }) => {
    const { client, organizationId } = await openSession(context);
    const organisations = await readAllPages((query) => client.listOrganizations({ query }));
    const found = organisations.find(({ id, slug }) => id === wanted || slug === wanted);
    if (found === undefined)
      throw new UserError(
        "ORGANISATION_NOT_FOUND",
        `No organisation of yours has the slug or id '${wanted}'.`,
        {
          hint: "See 'platform organisations ls' for their slugs and ids.",
        },
      );
    // Only the organisation of a request is changed.
    const session = await openSession(context, found.id);
    await session.client.deleteOrganization({ params: { id: found.id } });
    context.output.print(`Deleted ${cleanText(found.name)}.`);
    if (organizationId === found.id)
      context.output.note("You worked in it: choose another with 'platform set-context'.");
    return { json: found, succeeded: true };
  },
});
