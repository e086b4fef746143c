import { defineCommand } from "../base/command.ts";
import { cleanText } from "../base/output.ts";
import { openSession } from "../base/session.ts";
import { POOL_WORD, findPool } from "../pools/find-pool.ts";
import {
  findGranted,
  findGrantee,
  findReceiver,
  findShared,
  listGrants,
  listShares,
} from "../project/pool-access.ts";

const POOL = { description: POOL_WORD, required: true } as const;
const SHARE_ROLES = ["viewer", "maintainer"] as const;

/** `platform pools access`. */
export const showPoolAccessCommand = defineCommand({
  name: "pools access",
  summary: "List who may use a data pool: organisations and applications",
  description: [
    "Its own organisation may do everything and is not listed. Of a pool that another organisation shares, only what this one may do is shown.",
  ],
  arguments: { pool: POOL },
  options: {},
  examples: [{ command: "platform pools access Maps", comment: "A table" }],
  run: async (context, { arguments: { pool } }) => {
    const { client } = await openSession(context);
    const { id } = await findPool(client, pool);
    const [shares, grants] = [await listShares(client, id), await listGrants(client, id)];
    if (shares.length === 0 && grants.length === 0)
      context.output.note(
        "Nobody but its own organisation. 'platform pools share' and 'platform pools grant' let others use it.",
      );
    else
      context.output.printTable(
        ["WHO", "OF", "MAY", "SINCE", "BY", "ID"],
        [
          ...shares.map((one) => [
            cleanText(one.organizationName),
            "(organisation)",
            one.role,
            one.createdAt,
            cleanText(one.createdBy),
            one.organizationId,
          ]),
          ...grants.map((one) => [
            cleanText(one.applicationName),
            cleanText(one.organizationName),
            one.access,
            one.createdAt,
            cleanText(one.createdBy),
            one.applicationId,
          ]),
        ],
      );
    return { json: { shares, grants }, succeeded: true };
  },
});

/** `platform pools share`. */
export const sharePoolCommand = defineCommand({
  name: "pools share",
  summary: "Share a data pool with another organisation, or change what it may do",
  description: ["For owners. What a maintainer stores counts for the organisation of the pool."],
  arguments: {
    pool: POOL,
    organisation: {
      description: "Id of the organisation; of one that you are a member of also its slug or name",
      required: true,
    },
  },
  options: {
    role: {
      kind: "text",
      placeholder: "role",
      description: "viewer: lists, downloads, refers to files; maintainer: also stores and deletes them",
      choices: SHARE_ROLES,
      default: "viewer",
    },
  },
  examples: [
    { command: "platform pools share Maps 0198c1de-7a53-7000-8000-000000000000", comment: "To read" },
    { command: "platform pools share Maps lab --role maintainer", comment: "To store files as well" },
  ],
  run: async (context, { arguments: { pool, organisation }, options }) => {
    const { client } = await openSession(context);
    const { id, name } = await findPool(client, pool);
    const organizationId = await findReceiver(client, organisation);
    const role = options.role === "maintainer" ? "maintainer" : "viewer";
    const share = await client.putPoolShare({ params: { id, organizationId }, body: { role } });
    context.output.print(`${share.organizationName} may use ${name} as ${share.role}.`);
    return { json: share, succeeded: true };
  },
});

/** `platform pools unshare`. */
export const unsharePoolCommand = defineCommand({
  name: "pools unshare",
  summary: "End the share of a data pool with an organisation",
  description: [
    "For owners, also of the organisation that the pool is shared with. What its applications were granted ends with it.",
    "Executions that were started before read what they refer to.",
  ],
  arguments: {
    pool: POOL,
    organisation: { description: "Id or name of the organisation", required: true },
  },
  options: {},
  examples: [{ command: 'platform pools unshare Maps "Quantum Lab"', comment: "By its name" }],
  run: async (context, { arguments: { pool, organisation } }) => {
    const { client } = await openSession(context);
    const { id, name } = await findPool(client, pool);
    const organizationId = await findShared(client, id, organisation);
    await client.deletePoolShare({ params: { id, organizationId } });
    context.output.print(`${name} is not shared with ${organisation} any more.`);
    return { json: { id, organizationId }, succeeded: true };
  },
});

/** `platform pools grant`. */
export const grantPoolCommand = defineCommand({
  name: "pools grant",
  summary: "Let an application use a data pool, or change what it may do",
  description: [
    "To read: its starts may refer to the files. An application of another organisation needs a share of that organisation.",
  ],
  arguments: {
    pool: POOL,
    application: {
      description: "Name or id of an application of the organisation, or the id of another one",
      required: true,
    },
  },
  options: { write: { kind: "flag", description: "Its results may be stored as files, too" } },
  examples: [
    { command: "platform pools grant Maps shop", comment: "To read" },
    { command: "platform pools grant Maps shop --write", comment: "To store results as well" },
  ],
  run: async (context, { arguments: { pool, application }, options: { write } }) => {
    const { client } = await openSession(context);
    const { id, name } = await findPool(client, pool);
    const applicationId = await findGrantee(client, application);
    const access = write ? "write" : "read";
    const grant = await client.putPoolGrant({ params: { id, applicationId }, body: { access } });
    context.output.print(`${grant.applicationName} may use ${name}: ${grant.access}.`);
    return { json: grant, succeeded: true };
  },
});

/** `platform pools revoke`. */
export const revokePoolCommand = defineCommand({
  name: "pools revoke",
  summary: "Let an application use a data pool no longer",
  description: ["Executions that it has started before read what they refer to."],
  arguments: {
    pool: POOL,
    application: { description: "Id or name of the application", required: true },
  },
  options: {},
  examples: [{ command: "platform pools revoke Maps shop", comment: "By its name" }],
  run: async (context, { arguments: { pool, application } }) => {
    const { client } = await openSession(context);
    const { id, name } = await findPool(client, pool);
    const applicationId = await findGranted(client, id, application);
    await client.deletePoolGrant({ params: { id, applicationId } });
    context.output.print(`${application} may not use ${name} any more.`);
    return { json: { id, applicationId }, succeeded: true };
  },
});
