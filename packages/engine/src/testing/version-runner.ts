import type { Network } from "@platform/contract/network";
import type { NetworkPolicy } from "../python/sandbox/network/network-policy.ts";
import type { RunnableVersion } from "../python/port/runtime.ts";
import { createFixture, findTestSandbox } from "./python-fixture.ts";
import type { Fixture } from "./python-fixture.ts";
import { SILENT } from "./silent-logger.ts";
import { stagePool } from "./staged-pool.ts";

const LOOK_MS = 200;

/** A program with `run`, and what its version asks for. */
export interface Order {
  readonly program: string;
  readonly network?: Network | null;
  readonly data?: unknown;
  /** A file that is linked in the place of `data`. */
  readonly linkTo?: string;
  /** Files that are linked as those of a data pool, which `params.maps` is: paths by their names in it. */
  readonly pool?: Readonly<Record<string, string>>;
  /** A file that is linked in the place of the `data` of other executions of the version, one after the other while it runs. */
  readonly beside?: string;
  /** What an operator has set; missing: nothing. */
  readonly policy?: NetworkPolicy;
}

/** How its execution ended; `result` is undefined when there is none. */
export interface Answer {
  readonly outcome: unknown;
  readonly result?: unknown;
  /** What was logged since the answer before. */
  readonly notices: readonly string[];
}

/** Runs versions, as some user; the same program is run in the same version, unless an operator's policy is given. */
export interface VersionRunner {
  readonly run: (order: Order) => Promise<Answer>;
  readonly close: () => Promise<void>;
}

/** In a runtime of its own, which the policy is for. */
async function runApart({ program, network = null, data }: Order, policy: NetworkPolicy): Promise<Answer> {
  const own = await createFixture({ sandbox: await findTestSandbox({ networkPolicy: policy }) });
  const { outcome, result } = await own.finish(own.createVersion(program, { network }), { data });
  await own.close();
  return { outcome, result, notices: [] };
}

/** @param until what ends when no more shall be started */
async function runBeside(
  { stage, finish }: Fixture,
  version: RunnableVersion,
  { linkTo, until }: { readonly linkTo: string; readonly until: Promise<unknown> },
): Promise<void> {
  const over = new AbortController();
  void until.then(() => over.abort());
  while (!over.signal.aborted) await finish(version, { files: await stage({ linkTo }) });
}

/** Runs them as the user of this process. Looks at listed hosts more often than usual. */
export async function createVersionRunner(): Promise<VersionRunner> {
  let notices: readonly string[] = [];
  const notice = (_fields: unknown, message: string): void => void (notices = [...notices, message]);
  const fixture = await createFixture({
    sandbox: await findTestSandbox({ networkLookMs: LOOK_MS }),
    logger: { ...SILENT, warn: notice, error: notice },
  });
  const versions = new Map<string, RunnableVersion>();

  async function run(order: Order): Promise<Answer> {
    const { program, network = null, data, linkTo, pool, beside, policy } = order;
    if (policy !== undefined) return runApart(order, policy);
    const key = JSON.stringify([program, network]);
    const version = versions.get(key) ?? fixture.createVersion(program, { network });
    versions.set(key, version);
    const files = linkTo === undefined ? {} : { files: await fixture.stage({ linkTo }) };
    const staged = pool === undefined ? files : await stagePool(fixture, pool);
    // It may wait for those beside it.
    const timeoutSeconds = beside === undefined ? {} : { timeoutSeconds: 600 };
    const finishing = fixture.finish(version, { data, ...staged, ...timeoutSeconds });
    if (beside !== undefined) await runBeside(fixture, version, { linkTo: beside, until: finishing });
    const { outcome, result } = await finishing;
    const said = notices;
    notices = [];
    return { outcome, result, notices: said };
  }

  return { run, close: fixture.close };
}

/** Whether versions of this process' user can have a way out on this machine. */
export async function canHaveEgress(): Promise<boolean> {
  const { missing } = (await findTestSandbox()).report;
  return missing.every(({ piece }) => piece !== "network");
}
