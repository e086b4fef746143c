import { env } from "node:process";

/**
 * Whether tests run at full length (`npm run test:full`, and the commands of single suites; docs/development.md). Otherwise tests with the
 * tag `full` are left out (tools/test.sh), and others take a part of their cases.
 */
export const IS_FULL_LENGTH = (env["PLATFORM_TEST_FULL"] ?? "") !== "";
