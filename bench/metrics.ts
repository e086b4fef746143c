/**
 * `node bench/metrics.ts`: what metrics cost. Processor time of a state poll in two gateway processes on the same data, one of which counts,
 * in turns; and the time of a scrape when every series that there can be is there.
 */
import { readFile } from "node:fs/promises";
import { cpuUsage, stdout } from "node:process";
import autocannon from "autocannon";
import { createExecutionMetrics } from "../packages/platform/src/observability/execution-metrics.ts";
import { createExposition } from "../packages/platform/src/observability/exposition.ts";
import type { LineStarts } from "../packages/platform/src/observability/exposition.ts";
import { createHttpMetrics } from "../packages/platform/src/observability/http-metrics.ts";
import { createWorld } from "../tests/support/world.ts";
import { findFreePort } from "../tools/platform-process.ts";
import type { PlatformProcess } from "../tools/platform-process.ts";
import { median, report } from "./report.ts";

const ROUNDS = 9;
const SECONDS = 2;
const CONCURRENT = 32;
const MOST_TIMES = 1.05;
/** Ticks of /proc a second. */
const TICKS = 100;
const MOST_MS = 20;
const SCRAPES = 50;
const VERSIONS = 100;
const OPERATIONS = 150;

/** Microseconds that the process has used. */
async function readProcessor(pid: number | undefined): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, "utf8");
  // After the name, which may have anything in it: state is the third field, user and system time the 14th and 15th.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return ((Number(fields[11]) + Number(fields[12])) / TICKS) * 1_000_000;
}

async function measurePolls(): Promise<void> {
  const world = await createWorld();
  try {
    const { serviceKey } = await world.deploy(
      await world.createProject("no-op", "def run():\n    return {}\n"),
    );
    const consumer = await world.subscribe(serviceKey);
    const { id } = (await consumer.start({})).body;
    await consumer.finish(id);
    const port = String(await findFreePort());
    // The tokens are for this one.
    const shared = ["--gateway-url", world.platform.gatewayUrl];
    const plain = await world.start({ role: "gateway", flags: shared });
    const counting = await world.start({ role: "gateway", flags: [...shared, "--metrics-port", port] });
    /** Microseconds of the process for each poll: beside other work, more steady than polls a second. */
    const fire = async ({ gatewayUrl, process: { pid } }: PlatformProcess): Promise<number> => {
      const { pathname } = new URL(`${consumer.endpoint}${id}`);
      const headers = { authorization: `Bearer ${consumer.token}` };
      const url = `${gatewayUrl}${pathname}`;
      const before = await readProcessor(pid);
      const result = await autocannon({ url, connections: CONCURRENT, duration: SECONDS, headers });
      if (result.non2xx > 0) throw new Error(`${result.non2xx} polls were refused`);
      return ((await readProcessor(pid)) - before) / result.requests.total;
    };
    const rounds: { readonly plain: number; readonly counting: number }[] = [];
    await fire(plain);
    await fire(counting);
    for (let round = 0; round < ROUNDS; round++)
      rounds.push({ plain: await fire(plain), counting: await fire(counting) });
    const times = median(rounds.map((round) => round.counting / round.plain));
    stdout.write(`us a poll: ${median(rounds.map((round) => round.plain)).toFixed(1)} without metrics\n`);
    report("processor time of a state poll with metrics, times without", times, { atMost: MOST_TIMES });
  } finally {
    await world.close();
  }
}

function measureScrape(): void {
  const executions = createExecutionMetrics(() => performance.now());
  const names = new Map<string, { organization: string; service: string; version: string }>();
  for (let index = 0; index < VERSIONS; index++) {
    const versionId = crypto.randomUUID();
    names.set(versionId, {
      organization: `organisation-${index}`,
      service: `service-${index}`,
      version: "1.0.0",
    });
    for (const status of ["SUCCEEDED", "FAILED", "UNKNOWN"] as const) {
      executions.observer.began(versionId, 10);
      executions.observer.ended({ versionId, status, code: null, ranMs: 10 });
    }
  }
  const http = createHttpMetrics();
  for (const api of ["gateway", "platform"] as const)
    for (let index = 0; index < OPERATIONS / 2; index++) {
      const observe = http.observerOf(api).observe(`operation${index}`);
      for (const status of [200, 304, 404, 500]) observe(status, 10);
    }
  const starts: LineStarts = new WeakMap();
  let length = 0;
  const before = cpuUsage();
  for (let count = 0; count < SCRAPES; count++) {
    const exposition = createExposition(starts);
    http.collect(exposition);
    executions.collect(exposition, names);
    ({ length } = exposition.toText());
  }
  const { user, system } = cpuUsage(before);
  const milliseconds = (user + system) / 1_000 / SCRAPES;
  stdout.write(`${Math.round(length / 1024)} kB a scrape\n`);
  report("processor time of a scrape with all series, ms", milliseconds, { atMost: MOST_MS });
}

measureScrape();
await measurePolls();
