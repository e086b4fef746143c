/** Starts, polls and fetches results with openapi-fetch and the types that openapi-typescript wrote. */
import createClient from "openapi-fetch";
import type { components, paths } from "./client.js";

const client = createClient<paths>({
  baseUrl: process.env["ENDPOINT"] ?? "",
  headers: { authorization: `Bearer ${process.env["TOKEN"] ?? ""}` },
});

type Execution = components["schemas"]["Execution"];
type Result = components["schemas"]["Result"];

function refuse(error: components["schemas"]["Problem"] | undefined): never {
  throw new Error(JSON.stringify(error));
}

async function finish(data: Record<string, unknown>): Promise<{ state: Execution; result: Result }> {
  const started = await client.POST("/", { body: { data, params: { factor: 21 } } });
  let state = started.data ?? refuse(started.error);
  const path = { id: state.id };
  while (!state.terminal) {
    const polled = await client.GET("/{id}", { params: { path, header: { Prefer: "wait=10" } } });
    state = polled.data ?? refuse(polled.error);
  }
  const { data: result, error } = await client.GET("/{id}/result", { params: { path } });
  return { state, result: result ?? refuse(error) };
}

const good = await finish({ numbers: [1, 2] });
const bad = await finish({ act: "raise" });
const listed = await client.GET("/", { params: { query: { limit: 2 } } });
const seen = {
  succeeded: [good.state.status, good.result.result],
  failed: [bad.state.status, bad.result.code],
  listed: (listed.data ?? refuse(listed.error)).map((execution) => execution.status),
};
process.stdout.write(JSON.stringify(seen));
