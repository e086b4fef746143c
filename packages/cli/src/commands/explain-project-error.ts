import { ProjectError, ProjectFileMissingError } from "@platform/engine/project/project-error";
import { UserError } from "../base/errors.ts";

/** Converts an error about the project into an error for the user; null for any other thrown value. */
export function explainProjectError(error: unknown): UserError | null {
  if (!(error instanceof ProjectError)) return null;
  return new UserError(error.code, error.detail, {
    cause: error,
    ...(error instanceof ProjectFileMissingError
      ? { hint: "Run this in a project's folder, or create a project with 'platform init'." }
      : {}),
  });
}
