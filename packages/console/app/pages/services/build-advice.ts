import type { BUILD_FAILURE_WORDS } from "@platform/contract/words.gen";

/** What to do about a build that has failed; typed so that no code is forgotten. */
const ADVICE: Readonly<Record<keyof typeof BUILD_FAILURE_WORDS, string>> = {
  INVALID_PROJECT: "Correct what it names, and upload the project again.",
  PROJECT_TOO_LARGE: "Leave out what the code does not read: .platformignore names it.",
  INVALID_ARCHIVE: "Make the ZIP file with platform compress, and upload that one.",
  ARCHIVE_TOO_LARGE: "Leave out what the code does not read; large data belongs into a data pool.",
  INTERPRETER_NOT_FOUND: "Ask for a version of Python that this platform has, or ask who runs it.",
  BUILD_FAILED:
    "Correct the line of requirements.txt that is named: the package, or a version that exists for this Python. platform serve installs the same on your machine.",
  BUILD_TIMEOUT: "Require fewer packages, or such that need not be compiled, and upload the project again.",
  BUILD_CANCELLED: "Upload the project again if it is still wanted.",
  STARTUP_ERROR: "The log has the traceback; platform serve shows the same on your machine.",
  BACKEND_TOO_LARGE: "Ask for less in platform.json, or ask who runs the platform for a larger worker.",
  BACKEND_NOT_DESCRIBED: "Let describe return what is asked for, and upload the project again.",
  INTERNAL_ERROR: "Upload the project again. If that fails too, tell who runs the platform when it was.",
};

/** What to do about a code of a build; null: the platform has such a code since this console was built. */
export function adviseBuild(code: string | undefined): string | null {
  return code !== undefined && Object.hasOwn(ADVICE, code) ? ADVICE[code as keyof typeof ADVICE] : null;
}
