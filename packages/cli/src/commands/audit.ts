import type { AuditEvent } from "@platform/contract/platform-api/audit";
import { defineCommand } from "../base/command.ts";
import { formatCsv } from "@platform/contract/csv";
import { UserError } from "../base/errors.ts";
import { cleanText } from "../base/output.ts";
import { openSession, readAllPages } from "../base/session.ts";
import type { PlatformClient } from "../base/session.ts";

/** `platform audit`: reads all pages before it prints. */
export const auditCommand = defineCommand({
  name: "audit",
  summary: "Show, export or verify the audit log of the organisation",
  description: [
    "Newest first: who changed what, when, from where, and who was refused. Only owners may read it.",
    "'--format jsonl' prints each entry as it is, with the hashes; '--format csv' is for spreadsheets.",
    "'--verify' has the platform compute all hashes again, and fails when an entry is missing or was changed.",
  ],
  arguments: {},
  options: {
    actor: { kind: "text", placeholder: "user", description: "Only what this user did: id or email address" },
    action: { kind: "text", placeholder: "action", description: "Only this action, as 'access-key.revoke'" },
    target: { kind: "text", placeholder: "id", description: "Only what was done to this resource" },
    after: {
      kind: "text",
      placeholder: "time",
      description: "Only entries of YYYY-MM-DD HH:MM:SS (UTC) or later",
    },
    before: {
      kind: "text",
      placeholder: "time",
      description: "Only entries before YYYY-MM-DD HH:MM:SS (UTC)",
    },
    format: {
      kind: "text",
      placeholder: "format",
      choices: ["table", "jsonl", "csv"],
      description: "How the entries are printed; default table",
    },
    verify: { kind: "flag", description: "Verify the whole log instead of showing it" },
  },
  // The hashes are a chain: a part of it cannot be verified.
  exclusive: [
    ["verify", "actor"],
    ["verify", "action"],
    ["verify", "target"],
    ["verify", "after"],
    ["verify", "before"],
    ["verify", "format"],
  ],
  examples: [
    { command: "platform audit --action access-key.revoke", comment: "Who revoked keys" },
    { command: "platform audit --format csv > audit.csv", comment: "For a spreadsheet" },
    { command: "platform audit --verify", comment: "Whether anybody has changed the log" },
  ],
  run: async (context, { options }) => {
    const { client } = await openSession(context);
    if (options.verify) return await verify(client, context.output.print);
    const { actor, action, target, after, before } = options;
    const filter = {
      ...(actor === undefined ? {} : { actor }),
      ...(action === undefined ? {} : { action }),
      ...(target === undefined ? {} : { targetId: target }),
      ...(after === undefined ? {} : { after }),
      ...(before === undefined ? {} : { before }),
    };
    const events = await readAllPages((query) => client.listAuditEvents({ query: { ...query, ...filter } }));
    if (options.format === "jsonl") for (const event of events) context.output.print(JSON.stringify(event));
    else if (options.format === "csv") for (const line of toCsv(events)) context.output.print(line);
    else context.output.printTable(HEADER, events.map(toRow), "No entry is as the options say.");
    return { json: events, succeeded: true };
  },
});

const HEADER = ["TIME", "WHO", "ACTION", "OUTCOME", "TARGET", "FROM"];

function toRow({ at, actor, action, outcome, target, ip }: AuditEvent): readonly string[] {
  return [
    at,
    cleanText(describeActor(actor)),
    action,
    outcome,
    cleanText(target.path ?? "-"),
    ip === "" ? "-" : ip,
  ];
}

/** A wrong secret of an access key says nothing of who sent it. */
function describeActor({ kind, name }: AuditEvent["actor"]): string {
  if (kind === "operator") return name === "" ? "the server's command line" : `${name} (operator)`;
  if (name === "") return "unknown";
  return kind === "claimed" ? `${name} (not proven)` : name;
}

async function verify(client: PlatformClient, print: (text: string) => void) {
  let checked = 0;
  let cursor: string | null = null;
  do {
    const query: { readonly cursor?: string } = cursor === null ? {} : { cursor };
    const part = await client.verifyAuditLog({ query });
    checked += part.checked;
    if (part.firstBroken !== null) {
      throw new UserError(
        "AUDIT_LOG_BROKEN",
        `Entry ${part.firstBroken} of the audit log is missing or was changed.`,
        {
          hint: "Somebody has written to the database past the platform; compare it with a backup or an export.",
        },
      );
    }
    cursor = part.nextCursor;
  } while (cursor !== null);
  print(`All ${checked} entries are as they were written.`);
  return { json: { checked, intact: true }, succeeded: true };
}

const COLUMNS = [
  "id",
  "at",
  "actorKind",
  "actorId",
  "actorName",
  "credential",
  "action",
  "target",
  "outcome",
  "code",
  "ip",
  "changes",
  "hash",
];

function toCsv(events: readonly AuditEvent[]): readonly string[] {
  const rows = events.map(({ id, at, actor, action, target, outcome, code, ip, changes, hash }) => [
    id,
    at,
    actor.kind,
    actor.id,
    actor.name,
    actor.credential,
    action,
    target.path,
    outcome,
    code,
    ip,
    changes.length === 0 ? null : JSON.stringify(changes),
    hash,
  ]);
  return formatCsv([COLUMNS, ...rows]);
}
