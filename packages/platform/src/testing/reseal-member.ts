/*
 * A process of its own that seals secrets anew and kills itself on the way. Arguments: socket directory, name of the database,
 * current secret, other secret, number of secrets after which it ends.
 */
import { createDatabase } from "../postgres/database.ts";
import { MAINTENANCE } from "../postgres/limits.ts";
import { resealAll } from "../secrets/reseal.ts";
import { createStores } from "../store/stores.ts";
import { createRecordingLogger } from "./test-database.ts";

const [host = "", name = "", current = "", other = "", count = ""] = process.argv.slice(2);
const database = createDatabase(
  { host, port: 5432, user: "platform", database: name },
  { logger: createRecordingLogger(), limits: MAINTENANCE },
);
const { variables, signingKeys, webhooks } = createStores(database);
let left = Number(count);
const dying: typeof variables = {
  ...variables,
  reseal: async (former, sealed) => {
    if (left === 0) process.kill(process.pid, "SIGKILL");
    left -= 1;
    return await variables.reseal(former, sealed);
  },
};
await resealAll({ variables: dying, signingKeys, webhooks }, { current, others: [other] });
await database.close();
