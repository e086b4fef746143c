import { createOpenApi } from "../openapi.ts";
import type { OpenApiDocument } from "../openapi.ts";
import { ACCOUNT_API } from "./account.ts";
import { APPLICATIONS_API } from "./applications.ts";
import { AUDIT_API } from "./audit.ts";
import { BUILDS_API } from "./builds.ts";
import { DATA_POOLS_API } from "./data-pools.ts";
import { DEVICE_API } from "./device.ts";
import { EVENTS_API } from "./events.ts";
import { EXECUTION_ACTIONS_API } from "./execution-actions.ts";
import { EXECUTION_OVERVIEW_API } from "./execution-overview.ts";
import { EXECUTIONS_API } from "./executions.ts";
import { INVITATIONS_API } from "./invitations.ts";
import { JOBS_API } from "./jobs.ts";
import { OPERATOR_ACCOUNTS_API } from "./operator-accounts.ts";
import { OPERATOR_BACKENDS_API } from "./operator-backends.ts";
import { OPERATOR_FIGURES_API } from "./operator-figures.ts";
import { OPERATOR_INSTANCE_API } from "./operator-instance.ts";
import { ORGANIZATIONS_API } from "./organizations.ts";
import { MARKETPLACE_API } from "./marketplace.ts";
import { PLANS_API } from "./plans.ts";
import { POOL_ACCESS_API } from "./pool-access.ts";
import { POLICIES_API } from "./policies.ts";
import { SCHEDULES_API } from "./schedules.ts";
import { SECRETS_API } from "./secrets.ts";
import { VARIABLES_API } from "./variables.ts";
import { WEBHOOKS_API } from "./webhooks.ts";
import { SESSION_API } from "./session.ts";
import { SERVICES_API } from "./services.ts";
import { SUBSCRIPTIONS_API } from "./subscriptions.ts";
import { SIGN_UP_API } from "./sign-up.ts";
import { USAGE_API } from "./usage.ts";

/** Path prefix of the platform API's operations. */
export const PLATFORM_API_PREFIX = "/api";

/** What the document has, in its order. */
const GROUPS = [
  {
    name: "Account",
    description: "The user, organisations, personal access tokens",
    operations: ACCOUNT_API,
  },
  {
    name: "Session",
    description: "Browsers that are signed in; what they have to know before",
    operations: SESSION_API,
  },
  {
    name: "Device login",
    description: "Programs whose user signs in elsewhere",
    operations: DEVICE_API,
  },
  {
    name: "Sign-up",
    description: "Accounts are created, addresses verified, forgotten passwords replaced",
    operations: SIGN_UP_API,
  },
  {
    name: "Organizations",
    description: "Organisations, their members, invitations",
    operations: { ...ORGANIZATIONS_API, ...INVITATIONS_API },
  },
  {
    name: "Services",
    description: "Services, their versions and builds",
    operations: { ...SERVICES_API, ...BUILDS_API },
  },
  {
    name: "Policies",
    description: "How executions of a service are run: settings with revisions",
    operations: POLICIES_API,
  },
  {
    name: "Plans",
    description: "Prices and limits of subscriptions to a service",
    operations: PLANS_API,
  },
  {
    name: "Marketplace",
    description: "What services show of themselves, and the search for services to subscribe to",
    operations: MARKETPLACE_API,
  },
  {
    name: "Applications",
    description: "Applications and their access keys",
    operations: APPLICATIONS_API,
  },
  {
    name: "Subscriptions",
    description: "Which application may call which service, on which terms",
    operations: SUBSCRIPTIONS_API,
  },
  {
    name: "Jobs",
    description: "Executions that the organisation starts itself",
    operations: JOBS_API,
  },
  {
    name: "Executions",
    description:
      "All executions that concern the organisation: its jobs, those of its applications, and those of its services",
    operations: { ...EXECUTIONS_API, ...EXECUTION_OVERVIEW_API, ...EXECUTION_ACTIONS_API, ...EVENTS_API },
  },
  {
    name: "Data pools",
    description: "Files that executions read, and who may use them",
    operations: { ...DATA_POOLS_API, ...POOL_ACCESS_API },
  },
  {
    name: "Usage",
    description: "What was used, and what it costs",
    operations: USAGE_API,
  },
  {
    name: "Secrets",
    description: "Secrets of services and organisations, whose values are write-only",
    operations: SECRETS_API,
  },
  {
    name: "Variables",
    description: "Variables of services and organisations, whose values can be read",
    operations: VARIABLES_API,
  },
  {
    name: "Webhooks",
    description: "URLs of applications that are told what becomes of their executions",
    operations: WEBHOOKS_API,
  },
  {
    name: "Schedules",
    description: "Executions that start at times of a calendar",
    operations: SCHEDULES_API,
  },
  {
    name: "Operator",
    description: "The platform as a whole, for those who run it",
    operations: {
      ...OPERATOR_INSTANCE_API,
      ...OPERATOR_FIGURES_API,
      ...OPERATOR_ACCOUNTS_API,
      ...OPERATOR_BACKENDS_API,
    },
  },
  { name: "Audit", description: "Who changed what in the organisation", operations: AUDIT_API },
] as const;

/** Creates the OpenAPI document of the platform API: it is served at `/api/openapi.json`, and checked in. */
export function createPlatformOpenApi(): OpenApiDocument {
  return createOpenApi({
    title: "Platform API",
    version: "1",
    description:
      "Services, versions, applications, access keys, subscriptions and jobs of an organisation. The header X-OrganizationId selects the organisation; the default is the user's own. With the header X-UserId, a session of another user is refused: pages that one user has opened do nothing in the name of the next. Strings with a null character (U+0000) are refused. Not described here is `/api/uploads`, which takes files of data pools by tus 1.0.0 (https://tus.io/protocols/resumable-upload), so that what was interrupted goes on where it ended: creation, creation-with-upload, checksum, termination and expiration, with the metadata dataPoolId, filename, filetype and sha256.",
    server: { url: PLATFORM_API_PREFIX, description: "This platform" },
    groups: GROUPS,
    security: {
      bearer: { type: "http", scheme: "bearer", description: "Personal access token" },
      authToken: {
        type: "apiKey",
        in: "header",
        name: "X-Auth-Token",
        description: "Personal access token",
      },
    },
  });
}
