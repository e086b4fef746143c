import { EXECUTION_STATES, WAITING_REASONS } from "../packages/contract/src/execution.ts";
import type { Operation, OperationTable } from "../packages/contract/src/operation.ts";
import { AUDIT_ACTIONS } from "../packages/contract/src/platform-api/audit-actions.ts";
import { PLATFORM_API } from "../packages/contract/src/platform-api/platform-api.ts";
import { BUILD_FAILURES, FAILURES } from "../packages/contract/src/problems.ts";
import { QUANTUM_API } from "../packages/contract/src/quantum-api/quantum-api.ts";

/*
 * What a browser needs of the contract before it has shown anything. The tables themselves bring all schemas and TypeBox, 25 kB of
 * compressed code; these files bring none.
 */

const NOTICE = "/* Written by `npm run gen`. */";

/** Of every operation of the platform API what a client sends by, and who may call it. */
export function createRoutes(): string {
  return describeRoutes(PLATFORM_API, {
    name: "PLATFORM_ROUTES",
    table: "PLATFORM_API",
    file: "platform-api",
    what: "the platform API",
  });
}

/** The same of the quantum API. */
export function createQuantumRoutes(): string {
  return describeRoutes(QUANTUM_API, {
    name: "QUANTUM_ROUTES",
    table: "QUANTUM_API",
    file: "quantum-api",
    what: "the quantum API",
  });
}

interface RoutesNames {
  readonly name: string;
  readonly table: string;
  readonly file: string;
  readonly what: string;
}

function describeRoutes(operations: OperationTable, { name, table, file, what }: RoutesNames): string {
  const rows = Object.entries<Operation>(operations).map(([id, operation]) => {
    const { method, path, bodyMode, answerMode, allows, audit } = operation;
    return `  ${id}: ${toLiteral({ method, path, bodyMode, answerMode, allows, audit })},`;
  });
  return `${NOTICE}
import type { Route } from "../client.ts";
import type { Guarded } from "../permissions.ts";
import type { ${table} } from "./${file}.ts";

/** All operations of ${what} without their schemas, for \`createClient\` and \`can\` in a browser. */
// oxfmt-ignore
export const ${name}: Readonly<Record<keyof typeof ${table}, Route & Guarded>> = {
${rows.join("\n")}
};
`;
}

/** The tables that explain states and codes. */
export function createWords(): string {
  const states = Object.fromEntries(
    Object.entries(EXECUTION_STATES).map(([state, { isFinal, meaning }]) => [state, { isFinal, meaning }]),
  );
  return `${NOTICE}

${toTable("STATE_WORDS", "The five states of an execution: whether they are final, and what they mean.", states)}
${toTable("WAITING_WORDS", "Why the code of an execution has not begun.", WAITING_REASONS)}
${toTable("FAILURE_WORDS", "Codes of executions that did not succeed.", FAILURES)}
${toTable("BUILD_FAILURE_WORDS", "Codes of builds that made no version.", BUILD_FAILURES)}
/** Names of all actions that an entry of the audit log can have, in order. */
// oxfmt-ignore
export const AUDIT_ACTION_NAMES: readonly string[] = ${JSON.stringify(AUDIT_ACTIONS)};
`;
}

function toTable(name: string, comment: string, table: Readonly<Record<string, unknown>>): string {
  const rows = Object.entries(table).map(([key, value]) => `  ${key}: ${toLiteral(value)},`);
  return `/** ${comment} */\n// oxfmt-ignore\nexport const ${name} = {\n${rows.join("\n")}\n} as const;\n`;
}

function toLiteral(value: unknown): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  return `{ ${Object.entries(value)
    .map(([key, member]) => `${key}: ${JSON.stringify(member)}`)
    .join(", ")} }`;
}
