import { randomUUID } from "node:crypto";
import process from "node:process";
import { readMonotonic } from "@platform/engine/base/monotonic";
import { closeInherited } from "@platform/engine/host/close-inherited";
import manifest from "../package.json" with { type: "json" };
import { rotateSigningKey } from "./access/signing-keys.ts";
import type { Retirement } from "./access/signing-keys.ts";
import { provideFirstLogin } from "./accounts/first-login.ts";
import type { Command } from "./config/commands.ts";
import { describeSettings, isHelpWanted, readConfig } from "./config/config.ts";
import { requirePlatform } from "./host/data-directory.ts";
import { checkAddresses } from "./host/listen.ts";
import { describeStartError, StartError } from "./host/start-error.ts";
import { describeRemoval } from "./housekeeping/describe-removal.ts";
import { startHousekeeping } from "./housekeeping/housekeeping.ts";
import { checkStorage } from "./objects/sweep.ts";
import { runProcess } from "./roles/host-process.ts";
import type { HostProcess } from "./roles/host-process.ts";
import { createHttpServers, listAddresses } from "./roles/http-servers.ts";
import { startPresence } from "./roles/presence.ts";
import { findTools } from "./roles/python.ts";
import { describeMetricsUrl, openTracing, startMetrics, startSweeping } from "./roles/metrics.ts";
import { startRoles } from "./roles/roles.ts";
import { createShared, openData } from "./roles/shared.ts";
import type { Shared } from "./roles/shared.ts";
import { resealAll } from "./secrets/reseal.ts";
import { previewRemoval } from "./store/executions/preview-removal.ts";
import { createObjectRows, previewObjects } from "./store/objects/object-rows.ts";
import { addMissingUsage, checkUsage } from "./store/usage/check.ts";

async function main(): Promise<void> {
  if (isHelpWanted()) return void process.stdout.write(describeSettings());
  closeInherited();
  const config = readConfig();
  await runProcess(config, COMMANDS[config.command]);
}

async function serve(host: HostProcess): Promise<void> {
  const began = readMonotonic();
  const { config, logger, closers } = host;
  // Before anything slow, so that a port in use is reported at once.
  await checkAddresses(Object.values(listAddresses(config)));
  const data = await openData(host);
  const tools = await findTools(host, data);
  const tracing = await openTracing(host, manifest.version);
  const shared = await createShared({ ...host, ...tracing }, data);
  await bootstrap(shared);
  const metrics = startMetrics(shared, { version: manifest.version, collectors: tracing?.collectors ?? [] });
  const servers = createHttpServers(shared, metrics);
  startSweeping(shared, metrics);
  const workerId = randomUUID();
  const console = await startRoles(shared, servers, tools, { workerId, metrics });
  await startPresence(shared, tools, workerId);
  closers.add(
    "housekeeping",
    startHousekeeping({
      database: shared.maintenance,
      data: shared.data,
      store: shared.objectStore,
      retentionDays: config.retentionDays,
      logRetentionDays: config.logRetentionDays,
      logger,
    }),
  );
  await servers.listen();
  // Who starts something meanwhile waits no longer than without; where it fails, the first start does it.
  shared.executionStore.warmUp().catch((error: unknown) => logger.debug({ err: error }, "not warmed up"));
  logger.info(
    {
      version: manifest.version,
      roles: [...config.roles],
      gateway: config.gatewayUrl,
      api: config.apiUrl,
      ...(console === null ? {} : { console }),
      ...(config.metrics === null ? {} : { metrics: describeMetricsUrl(config.metrics) }),
      milliseconds: Math.round(readMonotonic() - began),
    },
    "the platform is ready",
  );
}

async function bootstrap({ config, identity, maintenance, logger }: Shared): Promise<void> {
  const { bootstrapFile: file, apiUrl, gatewayUrl } = config;
  if (file === null) return;
  await provideFirstLogin({ file, identity, database: maintenance, urls: { apiUrl, gatewayUrl }, logger });
}

/** The commands `rotate-signing-key` and `retire-signing-keys`. */
async function rotateKey(host: HostProcess, retirement: Retirement): Promise<void> {
  await requirePlatform(host.config);
  const { stores, secret } = await createShared(host, await openData(host));
  const former = await rotateSigningKey(stores.signingKeys, secret, retirement);
  if (former.length === 0)
    host.logger.warn(
      { dataDirectory: host.config.dataDirectory },
      "no signing key was there to replace; if this platform has issued access tokens, --data-dir or DATABASE_URL is not that platform's",
    );
  else if (retirement === "now")
    host.logger.info(
      { retired: former },
      "a new signing key is in use; access tokens signed by the retired ones are refused",
    );
  else
    host.logger.info(
      { former },
      "a new signing key is published and signs in two minutes; the former ones verify until the access tokens that they signed have expired. If a key has leaked, run retire-signing-keys",
    );
  await host.closers.closeAll();
}

/** The command `check-usage`; ends with 1 where something differs. */
async function reportUsage(host: HostProcess): Promise<void> {
  await requirePlatform(host.config);
  const { maintenance } = await createShared(host, await openData(host));
  const { days, lines, differences } = await checkUsage(maintenance);
  for (const difference of differences)
    host.logger.error(difference, "usage differs from what the executions of this day add up to");
  if (differences.length === 0)
    host.logger.info({ days, lines }, "usage is what the executions that are still stored add up to");
  else process.exitCode = 1;
  await host.closers.closeAll();
}

/** The command `add-usage`. */
async function addUsage(host: HostProcess): Promise<void> {
  await requirePlatform(host.config);
  const { maintenance } = await createShared(host, await openData(host));
  const lines = await addMissingUsage(maintenance);
  host.logger.info({ lines }, "the usage that was missing was added; check-usage names what still differs");
  await host.closers.closeAll();
}

/** The command `storage`; ends with 1 where content is missing. */
async function reportStorage(host: HostProcess): Promise<void> {
  const { logger } = host;
  await requirePlatform(host.config);
  const { maintenance, objectStore: store } = await createShared(host, await openData(host));
  const rows = createObjectRows(maintenance, host.config.retentionDays);
  const { unneeded, unknown, missing } = await checkStorage({ store, rows });
  for (const { hash, bytes } of unneeded) logger.info({ hash, bytes }, "nothing needs this object any more");
  for (const { hash, bytes } of unknown)
    logger.info({ hash, bytes }, "this object is not known to the database");
  for (const { hash } of missing)
    logger.error({ hash }, "the content of this object is missing, and needed; restore it from a backup");
  logger.info(
    { unneeded: addUp(unneeded), unknown: addUp(unknown), missing: missing.length },
    "the next round of housekeeping removes what nothing needs, and notes what is not known; nothing was changed",
  );
  if (missing.length > 0) process.exitCode = 1;
  await host.closers.closeAll();
}

function addUp(objects: readonly { readonly bytes: number | null }[]) {
  return { objects: objects.length, bytes: objects.reduce((sum, { bytes }) => sum + (bytes ?? 0), 0) };
}

/** The command `retention`. */
async function previewRetention(host: HostProcess): Promise<void> {
  await requirePlatform(host.config);
  const { retentionDays, logRetentionDays } = host.config;
  const { maintenance } = await createShared(host, await openData(host));
  const { named, ...removal } = await previewRemoval(maintenance, {
    retentionDays,
    logRetentionDays,
    now: Date.now(),
  });
  const unneeded = await previewObjects(maintenance, retentionDays, named);
  const preview = { ...removal, unneeded };
  process.stdout.write(host.config.json ? `${JSON.stringify(preview, null, 2)}\n` : describeRemoval(preview));
  await host.closers.closeAll();
}

/** The command `reseal`. */
async function reseal(host: HostProcess): Promise<void> {
  await requirePlatform(host.config);
  const { stores, secret } = await createShared(host, await openData(host));
  const { resealed, unopened } = await resealAll(stores, secret);
  if (unopened.length > 0)
    throw new StartError(
      `${resealed} values were encrypted anew. Neither --secret nor --other-secret opens these, so the platform that stored them had another one: name it by --other-secret and run this again, or set the secrets again (signing keys: retire-signing-keys).\n${unopened.join("\n")}`,
    );
  host.logger.info(
    { resealed },
    resealed > 0
      ? "everything is encrypted with --secret now; run this again when every process was started with this --secret, and keep --other-secret until then"
      : "nothing was left to encrypt anew; where every process was started with this --secret, --other-secret can be removed",
  );
  await host.closers.closeAll();
}

/** The commands `grant-operator` and `revoke-operator`. */
async function changeOperator(host: HostProcess, isOperator: boolean): Promise<void> {
  const { config, logger } = host;
  await requirePlatform(config);
  const { identity } = await createShared(host, await openData(host));
  const email = config.argument ?? "";
  const outcome = await identity.setOperator(email, isOperator);
  if (outcome === null) throw new StartError(`There is no user with the address ${email}.`);
  if (outcome === "last operator")
    throw new StartError(
      `${email} is the last operator who is not disabled. Make another user one first: npm start -- grant-operator EMAIL.`,
    );
  const is = isOperator ? "is an operator of the platform" : "is no operator of the platform";
  logger.info({ email }, outcome === "changed" ? `the user ${is} now` : `the user ${is} already`);
  await host.closers.closeAll();
}

const COMMANDS: Readonly<Record<Command, (host: HostProcess) => Promise<void>>> = {
  serve,
  "rotate-signing-key": (host) => rotateKey(host, "when unused"),
  "retire-signing-keys": (host) => rotateKey(host, "now"),
  "check-usage": reportUsage,
  "add-usage": addUsage,
  storage: reportStorage,
  retention: previewRetention,
  "grant-operator": (host) => changeOperator(host, true),
  "revoke-operator": (host) => changeOperator(host, false),
  reseal,
};

main().catch((error: unknown) => {
  process.stderr.write(`${describeStartError(error)}\n`);
  process.exit(1);
});
