/* Written by `npm run gen`. */

/** The five states of an execution: whether they are final, and what they mean. */
// oxfmt-ignore
export const STATE_WORDS = {
  PENDING: { isFinal: false, meaning: "stored durably, not started" },
  RUNNING: { isFinal: false, meaning: "user code may have begun; returns to PENDING if the platform could not start user code, or if the attempt failed and its service has chosen retries" },
  SUCCEEDED: { isFinal: true, meaning: "finished; the result can be fetched" },
  FAILED: { isFinal: true, meaning: "did not succeed; code and detail can be fetched as the result" },
  UNKNOWN: { isFinal: true, meaning: "the worker was lost while user code may have been running; the outcome is unknown" },
} as const;

/** Why the code of an execution has not begun. */
// oxfmt-ignore
export const WAITING_WORDS = {
  QUEUE: "it waits for its turn, or for free capacity",
  START_AT: "its start has asked for a later time",
  SERVICE_LIMIT: "as many executions of the service run as its policy allows",
  SUBSCRIPTION_LIMIT: "as many executions of the subscription (of a job: of the organisation) run as the policy of the service allows",
  NO_WORKER: "no worker is running",
  NO_LARGE_WORKER: "no running worker has the vCPUs and memory that the version requires",
  SETBACK: "the platform could not start it, and tries again after a pause",
  RETRY: "an attempt failed, and the next one follows after a pause, as its service has chosen",
  PREPARING: "its worker builds the environment of its version, or fetches its input",
} as const;

/** Codes of executions that did not succeed. */
// oxfmt-ignore
export const FAILURE_WORDS = {
  EXECUTION_ERROR: "The user code raised an exception or ended its process.",
  CONNECTION_ERROR: "The user code could not reach a backend host.",
  STARTUP_ERROR: "The version's code could not be loaded.",
  NOT_STARTED: "The platform could not start the execution after several attempts; user code did not begin.",
  START_DEADLINE_EXCEEDED: "The execution had not begun by the deadline of its start; user code did not begin.",
  INVALID_INPUT: "The input does not match the types that the service declares.",
  INVALID_RESULT: "The result is not JSON.",
  RESULT_TOO_LARGE: "The result is larger than the limit.",
  RESULT_NOT_STORED: "The result could not be stored.",
  OUT_OF_MEMORY: "The execution needed more memory than the version's limit.",
  TIMEOUT: "The execution ran longer than its time limit.",
  CANCELLED: "The execution was cancelled.",
  DATA_REFERENCE_UNAVAILABLE: "A referenced input was no longer available when the execution began.",
  WORKER_LOST: "The worker was lost while user code may have been running; the outcome is unknown.",
} as const;

/** Codes of builds that made no version. */
// oxfmt-ignore
export const BUILD_FAILURE_WORDS = {
  INVALID_PROJECT: "The project is invalid; `detail` says what is wrong.",
  PROJECT_TOO_LARGE: "The project has too many or too large files.",
  INVALID_ARCHIVE: "The archive is not a ZIP file, or cannot be unpacked safely.",
  ARCHIVE_TOO_LARGE: "The unpacked content of the archive exceeds the limit.",
  INTERPRETER_NOT_FOUND: "The builder found no suitable Python interpreter.",
  BUILD_FAILED: "The requirements could not be installed.",
  BUILD_TIMEOUT: "Installing the requirements exceeded the time limit.",
  BUILD_CANCELLED: "The build was cancelled.",
  STARTUP_ERROR: "src/program.py could not be loaded, or has no callable `run`.",
  BACKEND_TOO_LARGE: "The backend asks for more than any worker has for executions of backends.",
  BACKEND_NOT_DESCRIBED: "The function `describe` of the backend is missing, failed, or returned something else than a description.",
  INTERNAL_ERROR: "An internal error occurred.",
} as const;

/** Names of all actions that an entry of the audit log can have, in order. */
// oxfmt-ignore
export const AUDIT_ACTION_NAMES: readonly string[] = ["access-key.create","access-key.revoke","access-key.rotate","access-key.use","application.create","application.delete","application.update","backend.share","backend.unshare","data-pool.create","data-pool.delete","data-pool.update","device-login.confirm","device-login.finish","device-login.start","email-verification.request","email.verify","executions.cancel","external-sign-in.finish","external-sign-in.start","invitation.accept","invitation.create","invitation.decline","invitation.revoke","job-batch.cancel","job-batch.start","job.cancel","job.start","listing.put","member.leave","member.remove","member.update","operator.grant","operator.revoke","organization-secret.delete","organization-secret.put","organization-variable.delete","organization-variable.put","organization.create","organization.delete","organization.update","password-reset.request","password.change","password.reset","personal-access-token.create","personal-access-token.revoke","plan.archive","plan.put","policy.put","pool-file.create","pool-file.delete","pool-file.rename","pool-grant.delete","pool-grant.put","pool-share.delete","pool-share.put","quantum-budget.delete","quantum-budget.put","quantum-session.cancel","quantum-session.close","quantum-session.create","quantum-session.update","reset-link.issue","schedule.create","schedule.delete","schedule.run","schedule.update","secret.delete","secret.put","service.create","service.delete","service.publish","service.unpublish","service.update","session.create","session.end","session.forge","session.revoke","subscription.cancel","subscription.create","subscription.end","subscription.try","subscription.update","user.administer","user.create","user.update","variable.delete","variable.put","version.create","version.retire","webhook.create","webhook.delete","webhook.redeliver","webhook.rotate","webhook.test","webhook.update","worker.drain","worker.resume"];
