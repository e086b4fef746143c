import { PROJECT_FILE } from "@platform/contract/project";
import type { BuildFailureCode, FieldError } from "@platform/contract/problems";

/** What can be wrong with a project, its archive or its environment: always for the caller to correct, never a bug of the platform. */
export type ProjectErrorCode = Exclude<BuildFailureCode, "STARTUP_ERROR" | "INTERNAL_ERROR">;

/** Thrown by everything that reads, packs, unpacks or builds a project when the project is invalid. The message is for users: whole sentences, each with a period; only what another program says is shown as it is. */
export class ProjectError extends Error {
  readonly code: ProjectErrorCode;
  readonly detail: string;
  /** `path`: a JSON pointer into platform.json (`/resources/cpu`), or the relative path of a file. */
  readonly errors: readonly FieldError[];

  constructor(
    code: ProjectErrorCode,
    detail: string,
    options: { readonly errors?: readonly FieldError[]; readonly cause?: unknown } = {},
  ) {
    super(detail, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = "ProjectError";
    this.code = code;
    this.detail = detail;
    this.errors = options.errors ?? [];
  }
}

/** `platform.json` is missing: probably the wrong folder. A class of its own so that callers can suggest what to do. */
export class ProjectFileMissingError extends ProjectError {
  constructor(cause?: unknown) {
    super("INVALID_PROJECT", `${PROJECT_FILE} is missing: a project's root folder holds one.`, { cause });
  }
}
