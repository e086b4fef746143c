import { ACCOUNT_API } from "@platform/contract/platform-api/account";
import { APPLICATIONS_API } from "@platform/contract/platform-api/applications";
import type { JOBS_API } from "@platform/contract/platform-api/jobs";
import { SERVICES_API } from "@platform/contract/platform-api/services";
import type { Action } from "../accounts/roles.ts";

/** The operations with handlers of their own; those on jobs are the service API's. */
export const MANAGEMENT_API = { ...ACCOUNT_API, ...SERVICES_API, ...APPLICATIONS_API } as const;

export type ManagementApi = typeof MANAGEMENT_API;

/**
 * What a role must allow for each operation. Revoking a key or ending a subscription counts as editing: whoever may hand
 * out a key must be able to take it back at once. A personal access token is the user's own, whatever their role.
 */
export const OPERATION_ACTIONS = {
  getMe: "read",
  listOrganizations: "read",
  listPersonalAccessTokens: "read",
  createPersonalAccessToken: "read",
  revokePersonalAccessToken: "read",
  listServices: "read",
  createService: "write",
  getService: "read",
  publishService: "write",
  listVersions: "read",
  createVersion: "write",
  getBuild: "read",
  retireVersion: "write",
  listApplications: "read",
  createApplication: "write",
  getApplication: "read",
  deleteApplication: "delete",
  listAccessKeys: "read",
  createAccessKey: "write",
  revokeAccessKey: "write",
  listSubscriptions: "read",
  createSubscription: "write",
  getSubscription: "read",
  cancelSubscription: "write",
  startJob: "write",
  listJobs: "read",
  getJob: "read",
  getJobResult: "read",
  getJobLog: "read",
  cancelJob: "write",
} as const satisfies Record<keyof ManagementApi | keyof typeof JOBS_API, Action>;

export type ControlOperationId = keyof typeof OPERATION_ACTIONS;
