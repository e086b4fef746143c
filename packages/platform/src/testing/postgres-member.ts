/*
 * A process of its own that starts, adopts or joins the server of a directory, for tests that kill such processes.
 * Arguments: directory, user ("" for none). Prints one JSON line when ready and one for each log entry. SIGTERM: leaves;
 * SIGUSR2: exits without leaving, as after a bug.
 */
import { startEmbeddedPostgres } from "../postgres/supervisor.ts";

const [directory = "", user = ""] = process.argv.slice(2);

function print(value: object): void {
  process.stdout.write(`${JSON.stringify(value)}\n`);
}

const write = (_fields: object, message: string) => print({ log: message });
const logger = { debug: write, info: write, warn: write, error: write };

process.once("SIGUSR2", () => process.exit(1));
const server = await startEmbeddedPostgres({
  directory,
  user: user === "" ? undefined : user,
  logger,
  atExit: (stopNow) => void process.once("exit", stopNow),
});
const keepAlive = setInterval(() => undefined, 60_000);

process.once("SIGTERM", () => {
  clearInterval(keepAlive);
  void server.stop().then(() => print({ stopped: true }));
});

// Last: who reads it may send SIGTERM at once, which would end a process that does not listen yet.
print({ ready: true, isOwner: server.isOwner(), host: server.connection.host });
