/** Starts, polls and fetches results with the client that openapi-generator's typescript-fetch wrote. */
import { Configuration, ExecutionsApi } from "./client/index";
import type { Execution, Result } from "./client/index";

const api = new ExecutionsApi(
  new Configuration({
    basePath: (process.env["ENDPOINT"] ?? "").replace(/\/$/, ""),
    // With OAuth the generated code sends it as it is.
    accessToken: `Bearer ${process.env["TOKEN"] ?? ""}`,
  }),
);

async function finish(data: Record<string, unknown>): Promise<{ state: Execution; result: Result }> {
  let state = await api.startExecution({ startRequest: { data, params: { factor: 21 } } });
  const { id } = state;
  while (!state.terminal) state = await api.getState({ id, prefer: "wait=10" });
  return { state, result: await api.getResult({ id }) };
}

async function main(): Promise<void> {
  const good = await finish({ numbers: [1, 2] });
  const bad = await finish({ act: "raise" });
  const listed = await api.listExecutions({ limit: 2 });
  const seen = {
    succeeded: [good.state.status, good.result.result],
    failed: [bad.state.status, bad.result.code],
    listed: listed.map((execution) => execution.status),
  };
  process.stdout.write(JSON.stringify(seen));
}

main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`);
  process.exitCode = 1;
});
