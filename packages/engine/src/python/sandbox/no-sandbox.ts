import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { SandboxReport } from "@platform/contract/sandbox";
import { killLaunched } from "../../host/kill-launched.ts";
import { TrustedExecutable } from "../../host/trusted-executable.ts";
import { BASE_ENVIRONMENT } from "./sandbox.ts";
import type { Sandbox } from "./sandbox.ts";

/** Level D: no isolation, for trusted code only. `report` says why there is nothing better. */
export function createNoSandbox(report: SandboxReport): Sandbox {
  return {
    report,
    cgroups: null,
    mayLink: false,
    explainNetwork: () => null,
    prepare: async (request) => {
      const scratch = join(request.zygoteDirectory, "scratch");
      mkdirSync(scratch, { recursive: true, mode: 0o700 });
      return {
        view: {
          project: request.projectDirectory,
          runner: request.runnerDirectory,
          zygote: request.zygoteDirectory,
          scratch,
          hasDoors: true,
          isolation: { namespaces: false, network: "shared", filter: null, landlock: null, opened: [] },
        },
        wrap: ([file, ...args]) => ({ executable: TrustedExecutable.vouchFor(file, "no sandbox"), args }),
        environment: { ...BASE_ENVIRONMENT, HOME: scratch, TMPDIR: scratch },
        hasBegun: null,
        descriptors: [],
        connect: null,
        listHelpers: () => [],
        kill: killLaunched,
        disconnect: () => undefined,
        release: () => undefined,
      };
    },
    findFault: async () => null,
  };
}
