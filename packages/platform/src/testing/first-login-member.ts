/*
 * A process of its own that makes the first login, for tests that kill it on the way. Arguments: socket directory, name of
 * the database, file.
 */
import { createIdentity } from "../accounts/identity.ts";
import { provideFirstLogin } from "../accounts/first-login.ts";
import { createDatabase } from "../postgres/database.ts";
import { MAINTENANCE } from "../postgres/limits.ts";
import { createRecordingLogger } from "./test-database.ts";

const [host = "", name = "", file = ""] = process.argv.slice(2);
const logger = createRecordingLogger();
const database = createDatabase(
  { host, port: 5432, user: "platform", database: name },
  { logger, limits: MAINTENANCE },
);
const identity = createIdentity({ database });
await provideFirstLogin({
  file,
  identity,
  database,
  urls: { apiUrl: "http://api.test:8090", gatewayUrl: "http://gateway.test:8080" },
  logger,
});
await database.close();
