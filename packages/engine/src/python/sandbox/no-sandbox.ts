import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { TrustedExecutable } from "../../host/trusted-executable.ts";
import { BASE_ENVIRONMENT } from "./sandbox.ts";
import type { Sandbox } from "./sandbox.ts";

/** No isolation, for trusted code only: development on macOS, or when the operator switched the sandbox off. */
export function createNoSandbox(): Sandbox {
  return {
    level: "none",
    prepare: (request) => {
      const scratch = join(request.zygoteDirectory, "scratch");
      mkdirSync(scratch, { recursive: true, mode: 0o700 });
      return {
        view: {
          project: request.projectDirectory,
          runner: request.runnerDirectory,
          zygote: request.zygoteDirectory,
          scratch,
          isolate: false,
        },
        wrap: ([file, ...args]) => ({ executable: TrustedExecutable.vouchFor(file, "no sandbox"), args }),
        environment: { ...BASE_ENVIRONMENT, HOME: scratch, TMPDIR: scratch },
        hasBegun: null,
        release: () => undefined,
      };
    },
    findFault: async () => null,
  };
}
