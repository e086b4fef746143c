import { spawn } from "node:child_process";
import { once } from "node:events";
import { execPath } from "node:process";
import type { TestDatabase } from "./test-database.ts";
import type { TestInstanceOptions } from "./instance.ts";

/** Where a process of its own listens. */
export interface GatewayMember {
  readonly gatewayUrl: string;
  readonly apiUrl: string;
  /** As kill -9. Resolves when it has ended. */
  readonly kill: () => Promise<void>;
  /** Ends the process. */
  readonly close: () => Promise<void>;
}

type MemberOptions = Pick<TestInstanceOptions, "oidc" | "signUpMode"> & {
  /** Of the connections to the database. */
  readonly settings?: Readonly<Record<string, string>>;
};

const MEMBER = new URL("gateway-member.ts", import.meta.url).pathname;

/** Starts gateway-member.ts; resolves when it listens. */
export async function startGatewayMember(
  { target }: TestDatabase,
  options: MemberOptions = {},
): Promise<GatewayMember> {
  const child = spawn(execPath, [MEMBER, JSON.stringify(target), JSON.stringify(options)], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const [line]: Buffer[] = await once(child.stdout, "data");
  return {
    ...JSON.parse(String(line)),
    kill: async () => {
      child.kill("SIGKILL");
      if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
    },
    close: async () => {
      child.stdin.end();
      if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
    },
  };
}
