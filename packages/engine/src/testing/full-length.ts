import { env } from "node:process";

/**
 * Whether tests run at full length (`npm run test:full`, and the commands of single suites; docs/development.md). Otherwise tests with the
 * tag `full` are left out, and others take a part of their cases.
 */
export const IS_FULL_LENGTH = env["PLATFORM_TEST_FULL"] !== undefined;

/** The start modes that are tried where both do the same by other means: one at full length alone. */
export const START_MODES: readonly ("auto" | "spawn")[] = IS_FULL_LENGTH ? ["auto", "spawn"] : ["auto"];
