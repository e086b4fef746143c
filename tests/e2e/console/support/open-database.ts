import { join } from "node:path";
import { Client } from "pg";
import { onTestFinished } from "vitest";
import type { ConsoleWorld } from "./open-console.ts";

/** The database of a story's platform, for what no request makes in a moment; until the story ends, when it is told `last`. */
export async function openDatabase(
  { dataDirectory }: Pick<ConsoleWorld, "dataDirectory">,
  last: (database: Client) => Promise<unknown> = () => Promise.resolve(),
): Promise<Client> {
  const host = join(dataDirectory, "postgres", "socket");
  const database = new Client({ host, user: "platform", database: "platform" });
  await database.connect();
  onTestFinished(async () => {
    await last(database);
    await database.end();
  });
  return database;
}
