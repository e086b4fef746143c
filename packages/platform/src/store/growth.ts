import type { BoundName } from "./base/bounds.ts";

/** What keeps a table from growing without end. */
interface Growth {
  /** How many rows of one parent there can be that are neither ended nor deleted. */
  readonly bounds: readonly BoundName[];
  /** What bounds the rest, as a sentence. */
  readonly rest: string;
}

const DELETED = "Deleted ones stay, since executions refer to them: so many as can be made in the time.";
const ENDED = "Those that ended are removed after 30 days.";

/** Every table of the database; `npm run gen` refuses to go on where one is missing, and writes the guide's page of limits. */
export const GROWTH: Readonly<Record<string, Growth>> = {
  access_key: { bounds: ["accessKeys"], rest: ENDED },
  application: { bounds: ["applications"], rest: DELETED },
  audit_chain: { bounds: [], rest: "One for each organisation." },
  audit_entry: { bounds: [], rest: "One for each change, and for some refusals; they stay." },
  build: { bounds: [], rest: "20 at a time for an organisation; failed ones are removed with the results." },
  build_log: { bounds: [], rest: "A part of a build; removed with the results." },
  closed_day: { bounds: [], rest: "Two for each day; they stay." },
  data_pool: { bounds: ["dataPools"], rest: "Deleted ones stay: so many as can be made in the time." },
  data_pool_grant: { bounds: ["poolGrants"], rest: "None." },
  data_pool_share: { bounds: ["poolShares", "sharedPoolsOfOne", "sharedPools"], rest: "None." },
  device_login: {
    bounds: [],
    rest: "20 at once for a client, then one in ten seconds; removed after a day.",
  },
  execution_attempt: {
    bounds: [],
    rest: "Nine for an execution, of those whose service has chosen retries; removed with the results.",
  },
  execution: { bounds: [], rest: "The rate of starts; removed with the results." },
  execution_input: { bounds: [], rest: "A part of an execution." },
  feed_event: {
    bounds: [],
    rest: "Three for each execution, and two for each further attempt; removed after seven days.",
  },
  feed_mark: { bounds: [], rest: "Two." },
  feed_new: { bounds: [], rest: "Changes of state of the last moment." },
  execution_log: { bounds: [], rest: "A part of an execution." },
  execution_object: {
    bounds: [],
    rest: "Two, and the files of its data pools, for each execution that has not ended.",
  },
  execution_output: {
    bounds: [],
    rest: "One for each large result and each file of a result: so many as fit into what the organisation may store (--organization-results); removed with the results.",
  },
  execution_progress: { bounds: [], rest: "A part of an execution, of those whose code reports something." },
  execution_result: { bounds: [], rest: "A part of an execution." },
  external_login: { bounds: [], rest: "One for each account at the identity provider." },
  idempotency_key: {
    bounds: [],
    rest: "One for each start that has such a key, which the rate of starts bounds; removed after 24 hours.",
  },
  instance_mark: { bounds: [], rest: "One row." },
  instance_minute: { bounds: [], rest: "One for each minute; removed after eight days." },
  invitation: { bounds: ["invitations"], rest: ENDED },
  kept_execution: {
    bounds: [],
    rest: "Executions of services that keep them for longer; removed when they expire.",
  },
  kept_log: { bounds: [], rest: "A part of an execution." },
  kept_result: { bounds: [], rest: "A part of an execution." },
  listing: { bounds: [], rest: "One for each service, with at most 10 tags." },
  member: { bounds: ["members", "memberships"], rest: "None." },
  object: { bounds: [], rest: "One for each stored archive; removed a day after nothing needs it." },
  one_time_token: { bounds: [], rest: "Two for each user." },
  organisation: { bounds: ["ownedOrganisations"], rest: DELETED },
  personal_access_token: { bounds: ["tokens"], rest: ENDED },
  pool_file: { bounds: ["poolFiles"], rest: "Deleted and replaced ones are removed after a day." },
  pool_upload: { bounds: ["uploads"], rest: "Stored and expired ones are removed a week later." },
  plan: { bounds: ["plans", "planRevisions"], rest: "None." },
  platform_backend: { bounds: [], rest: "Made by operators only." },
  platform_process: { bounds: [], rest: "One for each process; those of lost ones are removed after a day." },
  platform_user: { bounds: [], rest: "Who may sign up; 20 at once for a client." },
  quantum_budget: {
    bounds: [],
    rest: "One for each organisation and currency; a removed one goes on counting.",
  },
  quantum_charge: {
    bounds: [],
    rest: "Quantum jobs with a price of an organisation with a budget; removed a minute after their end.",
  },
  quantum_session: { bounds: [], rest: `Open for 8 hours at most. ${ENDED}` },
  quota: { bounds: [], rest: "One for each subscription." },
  schema_migration: { bounds: [], rest: "One for each change of the schema." },
  schedule: { bounds: ["schedules"], rest: "Deleted with the organisation." },
  schedule_run: { bounds: [], rest: "The last hundred of each schedule, and those that are being started." },
  service: { bounds: ["services"], rest: "None." },
  service_policy: { bounds: [], rest: "The last 100 revisions for each service." },
  service_day: {
    bounds: [],
    rest: "One for each service and day on which others have called it; removed after 40 days.",
  },
  session: { bounds: ["sessions"], rest: ENDED },
  sign_in_attempt: {
    bounds: [],
    rest: "One for each address that is tried, and network that tries it, a hundred at once for a network; removed after a day.",
  },
  signing_key: { bounds: [], rest: "Made by operators only." },
  start_bucket: {
    bounds: [],
    rest: "One for each application, subscription, user, organisation, client that tries to sign in and address that is invited; removed after a day.",
  },
  subscription: {
    bounds: ["subscriptions"],
    rest: "Cancelled ones stay, since executions refer to them: so many as can be made in the time.",
  },
  subscription_term: { bounds: [], rest: "One for each change of a subscription's plan; they stay." },
  usage_day: { bounds: [], rest: "One for each day, subscription and version that was used; they stay." },
  usage_entry: { bounds: [], rest: "One for each execution, until it is added to its day." },
  variable: { bounds: ["variables"], rest: "Names of deleted ones are removed after 30 days." },
  version: { bounds: [], rest: "20 GB of live ones for an organisation, one build for each." },
  execution_batch: {
    bounds: [],
    rest: "A row of 20 to 300 kB for each request of a batch, which counts as a start; removed with the last of its executions.",
  },
  webhook: {
    bounds: ["webhooks"],
    rest: "One of starts besides for each application and for jobs of an organisation; deleted with these.",
  },
  webhook_delivery: {
    bounds: ["webhookTests"],
    rest: "10,000 that wait for each webhook, beyond which it misses events, and the record of the last 10,000 others; removed after seven days.",
  },
  webhook_mark: { bounds: [], rest: "One row." },
  worker: { bounds: [], rest: "One for each process of the platform." },
};
