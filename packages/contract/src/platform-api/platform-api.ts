import { ACCOUNT_API } from "./account.ts";
import { APPLICATIONS_API } from "./applications.ts";
import { AUDIT_API } from "./audit.ts";
import { BUILDS_API } from "./builds.ts";
import { DATA_POOLS_API } from "./data-pools.ts";
import { DEVICE_API } from "./device.ts";
import { EXECUTION_ACTIONS_API } from "./execution-actions.ts";
import { EXECUTION_OVERVIEW_API } from "./execution-overview.ts";
import { EXECUTIONS_API } from "./executions.ts";
import { EVENTS_API } from "./events.ts";
import { INVITATIONS_API } from "./invitations.ts";
import { JOBS_API } from "./jobs.ts";
import { POOL_ACCESS_API } from "./pool-access.ts";
import { OPERATOR_ACCOUNTS_API } from "./operator-accounts.ts";
import { OPERATOR_BACKENDS_API } from "./operator-backends.ts";
import { OPERATOR_FIGURES_API } from "./operator-figures.ts";
import { OPERATOR_INSTANCE_API } from "./operator-instance.ts";
import { ORGANIZATIONS_API } from "./organizations.ts";
import { MARKETPLACE_API } from "./marketplace.ts";
import { PLANS_API } from "./plans.ts";
import { POLICIES_API } from "./policies.ts";
import { SECRETS_API } from "./secrets.ts";
import { SCHEDULES_API } from "./schedules.ts";
import { SESSION_API } from "./session.ts";
import { SERVICES_API } from "./services.ts";
import { SUBSCRIPTIONS_API } from "./subscriptions.ts";
import { SIGN_UP_API } from "./sign-up.ts";
import { USAGE_API } from "./usage.ts";
import { VARIABLES_API } from "./variables.ts";
import { WEBHOOKS_API } from "./webhooks.ts";

/** All operations of the platform API, served below `/api`. */
export const PLATFORM_API = {
  ...SESSION_API,
  ...DEVICE_API,
  ...SIGN_UP_API,
  ...ACCOUNT_API,
  ...ORGANIZATIONS_API,
  ...INVITATIONS_API,
  ...SERVICES_API,
  ...BUILDS_API,
  ...POLICIES_API,
  ...PLANS_API,
  ...MARKETPLACE_API,
  ...APPLICATIONS_API,
  ...SUBSCRIPTIONS_API,
  ...JOBS_API,
  ...EXECUTIONS_API,
  ...EXECUTION_OVERVIEW_API,
  ...EXECUTION_ACTIONS_API,
  ...EVENTS_API,
  ...DATA_POOLS_API,
  ...POOL_ACCESS_API,
  ...USAGE_API,
  ...AUDIT_API,
  ...SECRETS_API,
  ...VARIABLES_API,
  ...WEBHOOKS_API,
  ...SCHEDULES_API,
  ...OPERATOR_ACCOUNTS_API,
  ...OPERATOR_INSTANCE_API,
  ...OPERATOR_FIGURES_API,
  ...OPERATOR_BACKENDS_API,
} as const;
