/*
 * A process of its own with a gateway and a platform API on a database, for tests of what several of them see. Arguments: the database
 * (as JSON), and options of the instance and settings of its connections (as JSON; both may be absent). Prints both origins as one line of
 * JSON when they listen. Ends with its input.
 */
import { createDatabase } from "../postgres/database.ts";
import { createPostgresExecutionStore } from "../store/executions/execution-store.ts";
import { createTestInstance } from "./instance.ts";

const silent = () => undefined;
const logger = { debug: silent, info: silent, warn: silent, error: silent };
const [target = "", options = "{}"] = process.argv.slice(2);
const { settings = {}, ...instanceOptions } = JSON.parse(options);
const database = createDatabase(JSON.parse(target), { logger, settings });
const executionStore = createPostgresExecutionStore({ database });
const { gateway, api } = await createTestInstance({ database, executionStore, ...instanceOptions });
const [gatewayUrl, apiUrl] = await Promise.all(
  [gateway, api].map((server) => server.listen({ host: "127.0.0.1", port: 0 })),
);
process.stdout.write(`${JSON.stringify({ gatewayUrl, apiUrl })}\n`);
process.stdin.on("end", () => process.exit(0)).resume();
