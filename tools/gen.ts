/** `npm run gen` writes every generated file that is checked in; `--check` says which are not current and writes nothing. */
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { argv, exit, stderr } from "node:process";
import { createCliReference } from "../packages/cli/generate-reference.ts";
import type { Operation, OperationTable } from "../packages/contract/src/operation.ts";
import { ROLE_ACTIONS, SCOPE_ACTIONS, listRoles, listScopes } from "../packages/contract/src/permissions.ts";
import { PLATFORM_API_PREFIX, createPlatformOpenApi } from "../packages/contract/src/platform-api/openapi.ts";
import { QUANTUM_API, QUANTUM_API_PREFIX } from "../packages/contract/src/quantum-api/quantum-api.ts";
import { createQuantumOpenApi } from "../packages/contract/src/quantum-api/openapi.ts";
import { PLATFORM_API } from "../packages/contract/src/platform-api/platform-api.ts";
import { WAIT_LIMITS } from "../packages/engine/src/executions/places.ts";
import { STREAM_LIMITS } from "../packages/engine/src/executions/stream-room.ts";
import { BUILD_STREAM_LIMITS } from "../packages/platform/src/api/follow-build.ts";
import { createServiceOpenApi } from "../packages/contract/src/service-openapi.ts";
import { EXECUTION_STATES } from "../packages/contract/src/execution.ts";
import { BUILD_FAILURES, FAILURES, PROBLEMS } from "../packages/contract/src/problems.ts";
import { ProjectSchema } from "../packages/contract/src/project.ts";
import { describeSettings } from "../packages/platform/src/config/config.ts";
import { METRICS } from "../packages/platform/src/observability/metrics.ts";
import { BOUNDS } from "../packages/platform/src/store/base/bounds.ts";
import type { Bound } from "../packages/platform/src/store/base/bounds.ts";
import { GROWTH } from "../packages/platform/src/store/growth.ts";
import { SCHEMA_FILE, dumpSchema } from "../packages/platform/src/testing/dump-schema.ts";
import { wrapPage } from "./docs/wrap.ts";
import { createQuantumRoutes, createRoutes, createWords } from "./browser-tables.ts";
import { MANIFESTS } from "./manifests.ts";
import { createSampleProject } from "./sample-project.ts";
import { REPOSITORY } from "./platform-process.ts";

const NOTICE = "<!-- Written by `npm run gen`. -->";

const FILES: Readonly<Record<string, () => string | Promise<string>>> = {
  ...MANIFESTS,
  "packages/contract/openapi/platform-api.json": () => toJson(createPlatformOpenApi()),
  "packages/contract/openapi/quantum-api.json": () => toJson(createQuantumOpenApi()),
  "packages/contract/openapi/service-api.json": () =>
    toJson(
      createServiceOpenApi({
        name: "service",
        version: "1.0.0",
        description: "The API of every deployed service, relative to its endpoint URL.",
        server: {
          url: "{gateway}/{serviceKey}/{serviceName}/{version}",
          description: "Endpoint of a version, at the gateway",
          variables: {
            gateway: { default: "https://gateway.example.org", description: "Origin of the gateway" },
            serviceKey: {
              default: "00000000-0000-4000-8000-000000000000",
              description: "Key of the service",
            },
            serviceName: { default: "service", description: "Name of the service" },
            version: { default: "1.0.0", description: "MAJOR.MINOR.PATCH" },
          },
        },
        inputSchema: null,
        tokenUrl: "https://gateway.example.org/token",
      }),
    ),
  "packages/contract/openapi/platform.schema.json": () =>
    toJson({
      $schema: "https://json-schema.org/draft/2020-12/schema",
      ...JSON.parse(JSON.stringify(ProjectSchema)),
    }),
  "packages/contract/src/platform-api/routes.gen.ts": createRoutes,
  "packages/contract/src/quantum-api/routes.gen.ts": createQuantumRoutes,
  "packages/contract/src/words.gen.ts": createWords,
  "packages/console/app/util/sample-project.gen.ts": createSampleProject,
  "packages/platform/schema.sql": dumpSchema,
  "docs/guide/codes.md": createCodesPage,
  "docs/guide/limits.md": createLimitsPage,
  "docs/guide/permissions.md": createPermissionsPage,
  "docs/guide/settings.md": () =>
    `${NOTICE}\n\n# Settings of the platform\n\n\`\`\`\n${describeSettings()}\`\`\`\n`,
  "docs/guide/metrics.md": createMetricsPage,
  "docs/guide/cli.md": createCliReference,
};

function createCodesPage(): string {
  const states = Object.entries(EXECUTION_STATES).map(
    ([state, rule]) => `| ${state} | ${rule.meaning} | ${rule.moves.join(", ") || "-"} |`,
  );
  const problems = Object.entries(PROBLEMS).map(
    ([code, rule]) => `| ${rule.status} | \`${code}\` | ${rule.detail} | ${rule.retryable ? "yes" : "no"} |`,
  );
  return [
    `${NOTICE}\n\n# States and codes`,
    `## States of an execution\n\n| state | meaning | moves to |\n|---|---|---|\n${states.join("\n")}`,
    `## Refused requests\n\nEvery refused request has the body \`{"code", "detail"}\`, and \`errors\` (JSON pointer and message) for invalid fields.\n\n| HTTP | code | meaning | may the same request succeed later |\n|---|---|---|---|\n${problems.join("\n")}`,
    `## Executions that did not succeed\n\nThe result endpoint answers 200 with \`code\` and \`detail\`. A service may choose codes of its own besides these.\n\n| code | meaning |\n|---|---|\n${describeCodes(FAILURES)}`,
    `## Builds that made no version\n\n| code | meaning |\n|---|---|\n${describeCodes(BUILD_FAILURES)}\n`,
  ].join("\n\n");
}

/** @throws Error where a table is missing in GROWTH, or is none any more */
async function createLimitsPage(): Promise<string> {
  const schema = await readFile(SCHEMA_FILE, "utf8");
  const tables = [...schema.matchAll(/^create table (\w+) \(/gmu)].map(([, name = ""]) => name);
  const wrong = [
    ...tables.filter((name) => GROWTH[name] === undefined),
    ...Object.keys(GROWTH).filter((name) => !tables.includes(name)),
  ];
  if (wrong.length > 0)
    throw new Error(
      `Say in store/growth.ts what keeps these tables from growing without end: ${wrong.join(", ")}`,
    );
  const bounds = Object.values<Bound>(BOUNDS).map(
    ({ of, limit, what, remedy }) => `| ${of.replace("The ", "")} | ${limit} | ${what} | ${remedy} |`,
  );
  const growth = Object.entries(GROWTH).map(([table, { bounds: names, rest }]) => {
    const counted = names.map((name) => `${BOUNDS[name].limit} (${BOUNDS[name].of.replace("The ", "")})`);
    return `| \`${table}\` | ${counted.join(", ") || "-"} | ${rest} |`;
  });
  return [
    `${NOTICE}\n\n# Limits`,
    "So many of each there can be at a time; one more is refused with `QUOTA_EXCEEDED` (429), and the text says what to do; of sessions, one more ends another. What is revoked, expired or deleted does not count. Two requests at once do not go past a limit.",
    `| of | at most | what | to make room |\n|---|---|---|---|\n${bounds.join("\n")}`,
    `Each server holds what waits for an execution (\`Prefer: wait\`) for ${WAIT_LIMITS.perOrganisation} requests of one organisation and ${WAIT_LIMITS.total} of all: one more is not refused, but answered at once, as to a caller who polls. Streams of executions, and likewise what waits for or streams a feed, have ${STREAM_LIMITS.perOrganisation} and ${STREAM_LIMITS.total} places, of which streams of builds may take ${BUILD_STREAM_LIMITS.perOrganisation} and ${BUILD_STREAM_LIMITS.total}; one more is refused with 429 or 503 and \`Retry-After\`.`,
    "Limits of builds and starts are settings ([Settings](settings.md)); limits of sizes stand in the [OpenAPI documents](calling-a-service.md).",
    `## What the database holds\n\nFor operators: what keeps each table from growing without end.\n\n| table | at a time | besides |\n|---|---|---|\n${growth.join("\n")}\n`,
  ].join("\n\n");
}

function createMetricsPage(): string {
  const rows = Object.entries(METRICS).map(
    ([name, { type, labels, help }]) =>
      `| \`${name}\` | ${type} | ${labels.map((label) => `\`${label}\``).join(", ") || "-"} | ${help} |`,
  );
  return `${NOTICE}\n\n# Metrics\n\nWhat \`/metrics\` has; how to use it: [observability](observability.md).\n\n| metric | type | labels | meaning |\n|---|---|---|---|\n${rows.join("\n")}\n`;
}

function describeOperations(table: OperationTable, prefix: string, more: readonly string[]): string {
  const operations = Object.entries<Operation>(table).map(([id, operation]) => {
    const { method, path, allows } = operation;
    const isPublic = allows === "public";
    const roles = isPublic
      ? "everybody"
      : allows === "operator"
        ? "operators"
        : listRoles(operation).join(", ");
    const scopes = isPublic ? "-" : [...listScopes(operation), ...more].join(", ");
    return `| ${id} | \`${method} ${prefix}${path}\` | ${allows} | ${roles} | ${scopes} |`;
  });
  return `| operation | request | action | roles | scopes |\n|---|---|---|---|---|\n${operations.join("\n")}\n`;
}

function createPermissionsPage(): string {
  return [
    `${NOTICE}\n\n# Who may call what`,
    "A call of the platform API needs a role in the organisation of the request and, with a personal access token, a scope. A session of the console may do all that its user may. [Accounts and tokens](accounts.md) says how to get both.",
    `## Roles\n\n| role | may |\n|---|---|\n${describeActions(ROLE_ACTIONS)}`,
    `## Scopes of a personal access token\n\n| scope | opens |\n|---|---|\n${describeActions(SCOPE_ACTIONS)}`,
    `## Operations\n\n\`caller\` concerns only what is the calling user's own: any role will do, and changing it takes the scope admin.\n\n${describeOperations(PLATFORM_API, PLATFORM_API_PREFIX, [])}`,
    `## Operations of the quantum API\n\n${describeOperations(QUANTUM_API, QUANTUM_API_PREFIX, ["quantum"])}`,
  ].join("\n\n");
}

function describeActions(actions: Readonly<Record<string, readonly string[]>>): string {
  return Object.entries(actions)
    .map(([name, allowed]) => `| ${name} | ${allowed.join(", ") || "nothing of the platform API"} |`)
    .join("\n");
}

function describeCodes(codes: Readonly<Record<string, string>>): string {
  return Object.entries(codes)
    .map(([code, text]) => `| \`${code}\` | ${text} |`)
    .join("\n");
}

function toJson(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}

const isCheck = argv.includes("--check");
let stale = 0;
for (const [path, create] of Object.entries(FILES)) {
  const file = join(REPOSITORY, path);
  const created = await create();
  const wanted = path.endsWith(".md") ? wrapPage(created) : created;
  const present = await readFile(file, "utf8").catch(() => null);
  if (present === wanted) continue;
  stale += 1;
  stderr.write(`${isCheck ? "not current" : "written"}: ${path}\n`);
  if (isCheck) continue;
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, wanted);
}
if (isCheck && stale > 0) {
  stderr.write("Run `npm run gen` and commit what it writes.\n");
  exit(1);
}
