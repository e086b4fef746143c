import { defineCommand } from "../base/command.ts";
import { cleanText } from "../base/output.ts";
import { openSession, readAllPages } from "../base/session.ts";

/** `platform organisations ls`: reads all pages before it prints. */
export const listOrganisationsCommand = defineCommand({
  name: "organisations ls",
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
