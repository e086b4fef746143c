import type { PolicyRevision } from "@platform/contract/platform-api/policies";
import { CONCURRENCY, PRIORITIES } from "@platform/contract/policy";
import type { Priority, ServicePolicy } from "@platform/contract/policy";
import { TIMEOUT_SECONDS } from "@platform/contract/project";
import { defineCommand } from "../base/command.ts";
import type { CommandContext } from "../base/context.ts";
import { parseStartWithin } from "../base/duration.ts";
import { cleanText } from "../base/output.ts";
import { openSession, readAllPages } from "../base/session.ts";
import { describePolicy } from "../project/describe-policy.ts";
import { findService } from "../project/find-service.ts";
import { readPolicyFile } from "../serve/policy-file.ts";

/** Settings that the command line can change one by one; missing: they stay. */
interface Settings {
  /** 0: as the version says. */
  readonly timeout: number | undefined;
  readonly priority: string | undefined;
  /** 0: no limit. */
  readonly concurrency: number | undefined;
  readonly perSubscription: number | undefined;
  /** Text of a duration; 0: none. */
  readonly startWithin: string | undefined;
}

const PLACES = {
  kind: "number",
  placeholder: "n",
  minimum: 0,
  maximum: CONCURRENCY.maximum,
  isInteger: true,
} as const;

/** `platform services policy`: shows it, or changes it. */
export const policyCommand = defineCommand({
  name: "services policy",
  summary: "Show or change how executions of a service are run",
  description: [
    "Without options it shows the policy. --timeout, --priority, --concurrency, --per-subscription and --start-within change one setting each and leave the others; --set replaces the policy by a JSON object, from a file or, with -, from standard input: {} takes everything back.",
    "Holds for executions that are started from then on, without a new version. Without a service, that of the project in this folder.",
  ],
  arguments: { service: { description: "Name or key of the service", required: false } },
  options: {
    set: {
      kind: "text",
      placeholder: "file",
      description: "Replace the policy by this JSON; - is standard input",
    },
    timeout: {
      kind: "number",
      placeholder: "seconds",
      description: "Wall-clock limit of one execution; 0: as its version says",
      minimum: 0,
      maximum: TIMEOUT_SECONDS.maximum,
      isInteger: true,
    },
    priority: {
      kind: "text",
      placeholder: "class",
      description: "low waits behind others; high is for organisations that the operator allows",
      choices: PRIORITIES,
    },
    concurrency: { ...PLACES, description: "Executions of the service at one time; 0: no limit" },
    perSubscription: {
      ...PLACES,
      description: "Executions of one subscription (of jobs: of the organisation) at one time; 0: no limit",
    },
    startWithin: {
      kind: "text",
      placeholder: "time",
      description:
        "Executions whose start does not say it fail unless they begin within this time, such as 10m; 0: they wait",
    },
    revisions: { kind: "flag", description: "List the revisions, newest first" },
  },
  exclusive: [
    ["set", "revisions"],
    ...(["timeout", "priority", "concurrency", "perSubscription", "startWithin"] as const).flatMap((name) => [
      ["set", name] as const,
      ["revisions", name] as const,
    ]),
  ],
  examples: [
    { command: "platform services policy tsp", comment: "The policy of a service" },
    { command: "platform services policy tsp --timeout 600 --priority low", comment: "Change two settings" },
    {
      command: "platform services policy tsp --concurrency 8 --per-subscription 2",
      comment: "At most eight run at one time, two of one subscription",
    },
    { command: "platform services policy tsp --set policy.json", comment: "All of it, from a file" },
  ],
  run: async (context, { arguments: { service: given }, options: { set, revisions, ...settings } }) => {
    const wanted = set === undefined ? null : await readPolicyFile(context, { from: set, option: "--set" });
    const { client } = await openSession(context);
    const { key } = await findService(context, client, given);
    const params = { key };
    if (revisions) {
      const all = await readAllPages((query) => client.listPolicyRevisions({ params, query }));
      printRevisions(context, all);
      return { json: all, succeeded: true };
    }
    const { revision, policy, ...made } = await client.getPolicy({ params });
    const changed = wanted ?? changeSettings(policy, settings);
    const shown =
      changed === policy
        ? { revision, policy, ...made }
        : await client.putPolicy({ params, body: { revision, policy: changed } });
    printPolicy(context, shown);
    return { json: shown, succeeded: true };
  },
});

/** The same object where nothing is to be changed. */
function changeSettings(policy: ServicePolicy, settings: Settings): ServicePolicy {
  if (Object.values(settings).every((value) => value === undefined)) return policy;
  const { timeout, priority, concurrency, perSubscription } = settings;
  const { timeoutSeconds, startWithinSeconds, concurrency: places = {}, ...rest } = policy;
  const startWithin = settings.startWithin === undefined ? undefined : parseStartWithin(settings.startWithin);
  const limits = {
    ...choose("service", concurrency ?? places.service),
    ...choose("subscription", perSubscription ?? places.subscription),
  };
  return {
    ...rest,
    ...choose("timeoutSeconds", timeout ?? timeoutSeconds),
    ...choose("startWithinSeconds", startWithin ?? startWithinSeconds),
    ...(Object.keys(limits).length > 0 ? { concurrency: limits } : {}),
    ...(isPriority(priority) ? { priority } : {}),
  };
}

/** Nothing for 0, which takes a setting back. */
function choose<const Name extends string>(
  name: Name,
  value: number | undefined,
): { readonly [K in Name]?: number } {
  // Safe: it has this one property, or none.
  return (value === undefined || value === 0 ? {} : { [name]: value }) as { readonly [K in Name]?: number };
}

function isPriority(text: string | undefined): text is Priority {
  return PRIORITIES.some((priority) => priority === text);
}

function printPolicy(
  { output }: CommandContext,
  { revision, policy, createdAt, createdBy }: PolicyRevision,
): void {
  output.print(`Revision  ${describeMade({ revision, createdAt, createdBy })}`);
  for (const [name, value] of describePolicy(policy)) output.print(`${name.padEnd(8)}  ${value}`);
}

function describeMade({ revision, createdAt, createdBy }: Omit<PolicyRevision, "policy">): string {
  if (revision === 0) return "none: nothing was ever set";
  return `${revision}, ${createdAt ?? "-"} by ${cleanText(createdBy ?? "-")}`;
}

function printRevisions({ output }: CommandContext, revisions: readonly PolicyRevision[]): void {
  output.printTable(
    ["REVISION", "SET", "BY", "POLICY"],
    revisions.map(({ revision, policy, createdAt, createdBy }) => [
      String(revision),
      createdAt ?? "-",
      cleanText(createdBy ?? "-"),
      cleanText(JSON.stringify(policy)),
    ]),
    "Nothing was ever set. Change the policy with 'platform services policy --timeout' or '--set'.",
  );
}
