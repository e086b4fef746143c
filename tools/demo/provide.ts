import { report } from "./report.ts";
import type { DemoCli } from "./demo-cli.ts";

/** The plan that others subscribe to, and how many executions it allows in a month. */
export const PLAN = "trial";
/** Small enough that a demo reaches it. */
export const CAP = 3;

/** Deploys the sample service, and offers it to all organisations with a capped plan. */
export async function provide(cli: DemoCli, personalAccessToken: string): Promise<void> {
  const { user, organization } = await cli<{
    user: { email: string };
    organization: { name: string };
  }>("login", "-t", personalAccessToken);
  report("platform login -t TOKEN", `${user.email}, working in '${organization.name}'`);

  const { version } = await cli<{ version: string }>("up");
  report("platform up", `tsp ${version} is live, with numpy installed`);

  // Before it is published: a service without a plan would get one without limits.
  await cli("plans", "put", PLAN, "--cap", String(CAP));
  report(`platform plans put ${PLAN} --cap ${CAP}`, `free, at most ${CAP} executions a month`);

  await cli("publish", "--to", "marketplace");
  report("platform publish", "--to marketplace: applications of all organisations can subscribe");
}
