import { defineCommand } from "../base/command.ts";
import { createUsageError } from "../base/errors.ts";
import { cleanText } from "../base/output.ts";
import { openSession } from "../base/session.ts";
import { POOL_WORD, findFile, findPool, listFiles, listPools } from "../pools/find-pool.ts";
import { formatBytes } from "../pools/format-bytes.ts";

const POOL = { description: POOL_WORD, required: true } as const;
const FILE = { description: "Id or name of the file", required: true } as const;

/** `platform pools`, `platform pools ls [pool]`: reads all pages before it prints. */
export const listPoolsCommand = defineCommand({
  name: "pools ls",
  isDefault: true,
  summary: "List the data pools, or the files of one",
  description: [
    "Without a pool, 'platform pools' does the same. Pools that other organisations share are listed too, with a role other than owner.",
  ],
  arguments: { pool: { ...POOL, required: false } },
  options: {
    search: {
      kind: "text",
      placeholder: "text",
      description: "Only those with this in their name; capital letters do not matter",
    },
  },
  examples: [
    { command: "platform pools", comment: "The data pools" },
    { command: "platform pools ls Maps", comment: "The files of one" },
    { command: "platform pools ls Maps --search berlin", comment: "Those with this in their name" },
  ],
  run: async (context, { arguments: { pool }, options: { search } }) => {
    const { client } = await openSession(context);
    if (pool === undefined) {
      const pools = await listPools(client, search);
      context.output.printTable(
        ["NAME", "ORGANISATION", "ROLE", "FILES", "SIZE", "ID"],
        pools.map(({ name, organizationName, role, fileCount, bytes, id }) => [
          cleanText(name),
          cleanText(organizationName),
          role,
          String(fileCount),
          formatBytes(bytes),
          id,
        ]),
        search === undefined
          ? "No data pools yet. Make one with 'platform pools create'."
          : "No data pool has this in its name.",
      );
      return { json: pools, succeeded: true };
    }
    const files = await listFiles(client, await findPool(client, pool), search);
    context.output.printTable(
      ["NAME", "SIZE", "CREATED", "ID"],
      files.map(({ name, bytes, createdAt, fileId }) => [
        cleanText(name),
        formatBytes(bytes),
        createdAt,
        fileId,
      ]),
      search === undefined
        ? "No files yet. Store some with 'platform pools upload'."
        : "No file of it has this in its name.",
    );
    return { json: files, succeeded: true };
  },
});

/** `platform pools create`. */
export const createPoolCommand = defineCommand({
  name: "pools create",
  summary: "Create a data pool and print its id",
  description: ["Its name is unique in the organisation, without regard to case."],
  arguments: { name: { description: "Display name", required: true } },
  options: {
    description: { kind: "text", placeholder: "text", description: "What its files are, one line" },
  },
  examples: [{ command: "platform pools create Maps", comment: "Prints its id" }],
  run: async (context, { arguments: { name }, options: { description } }) => {
    const { client } = await openSession(context);
    const created = await client.createDataPool({
      body: { name, ...(description === undefined ? {} : { description }) },
    });
    context.output.print(created.id);
    return { json: created, succeeded: true };
  },
});

/** `platform pools ref`: the reference is all that it prints on standard output. */
export const referPoolFileCommand = defineCommand({
  name: "pools ref",
  summary: "Print the reference of a file, which a start takes as dataRef or paramsRef",
  description: ["The reference names this content: a file that takes its place has another one."],
  arguments: { pool: POOL, file: FILE },
  options: {},
  examples: [{ command: "platform pools ref Maps berlin52.json", comment: "The three ids as JSON" }],
  run: async (context, { arguments: { pool, file } }) => {
    const { client } = await openSession(context);
    const { reference } = await findFile(client, await findPool(client, pool), file);
    context.output.print(JSON.stringify(reference));
    return { json: reference, succeeded: true };
  },
});

/** `platform pools rename`: a pool with two words, a file with three. */
export const renamePoolCommand = defineCommand({
  name: "pools rename",
  summary: "Rename a data pool, or a file of it",
  description: ["Identifiers stay, so references do."],
  arguments: {
    pool: POOL,
    names: {
      description: "New name of the pool; or the file and its new name",
      required: true,
      isList: true,
    },
  },
  options: {},
  examples: [
    { command: "platform pools rename Maps Atlas", comment: "The pool" },
    { command: "platform pools rename Maps berlin52.json berlin.json", comment: "A file of it" },
  ],
  run: async (context, { arguments: { pool, names } }) => {
    const [first = "", second, ...others] = names;
    if (others.length > 0) throw createUsageError("Give a new name, or a file and its new name.");
    const { client } = await openSession(context);
    const { id } = await findPool(client, pool);
    if (second === undefined) {
      const renamed = await client.putDataPool({ params: { id }, body: { name: first } });
      context.output.print(`Renamed to ${renamed.name}.`);
      return { json: renamed, succeeded: true };
    }
    const { fileId } = await findFile(client, await findPool(client, pool), first);
    const renamed = await client.renamePoolFile({ params: { id, file: fileId }, body: { name: second } });
    context.output.print(`Renamed to ${renamed.name}.`);
    return { json: renamed, succeeded: true };
  },
});

/** `platform pools rm`. */
export const removePoolFileCommand = defineCommand({
  name: "pools rm",
  summary: "Delete a file of a data pool",
  description: ["Executions that were started before with a reference to it read it."],
  arguments: { pool: POOL, file: FILE },
  options: {},
  examples: [{ command: "platform pools rm Maps berlin52.json", comment: "By its name" }],
  run: async (context, { arguments: { pool, file } }) => {
    const { client } = await openSession(context);
    const found = await findPool(client, pool);
    const { fileId, name } = await findFile(client, found, file);
    await client.deletePoolFile({ params: { id: found.id, file: fileId } });
    context.output.print(`Deleted ${name}.`);
    return { json: { fileId, name }, succeeded: true };
  },
});

/** `platform pools delete`. */
export const deletePoolCommand = defineCommand({
  name: "pools delete",
  summary: "Delete a data pool with all of its files",
  description: ["For owners. It asks first, unless --yes is given."],
  arguments: { pool: POOL },
  options: { yes: { kind: "flag", short: "y", description: "Do not ask" } },
  examples: [{ command: "platform pools delete Maps --yes", comment: "Without a question" }],
  run: async (context, { arguments: { pool }, options }) => {
    const { client } = await openSession(context);
    const { id, name, fileCount } = await findPool(client, pool);
    if (!options.yes && context.prompts === null)
      throw createUsageError("Deleting a data pool needs --yes where no question can be asked.");
    if (!options.yes) {
      const typed = await context.prompts?.askText({
        message: `Type ${cleanText(name)} to delete it with ${fileCount} files`,
      });
      if (typed !== name) {
        context.output.note("Nothing was deleted.");
        return { json: { id, name, deleted: false }, succeeded: false };
      }
    }
    await client.deleteDataPool({ params: { id } });
    context.output.print(`Deleted ${name}.`);
    return { json: { id, name, deleted: true }, succeeded: true };
  },
});
