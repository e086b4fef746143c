import { request } from "../../tools/platform-client.ts";
import type { Answer } from "../../tools/platform-client.ts";
import type { World } from "../support/world.ts";

/** A body of the quantum API. */
export type Body = Readonly<Record<string, unknown>>;

/** A request to the quantum API with the token of the world's user; a job that is read is waited for. */
export async function quantum(
  world: World,
  method: "GET" | "POST",
  path: string,
  json?: unknown,
): Promise<Answer<Body>> {
  return await request<Body>(method, `${world.platform.apiUrl}/quantum${path}`, {
    token: world.login.personalAccessToken,
    ...(json === undefined ? { headers: { prefer: "wait=60" } } : { json }),
  });
}

/** What became of a job: the status with which it was refused at the door, its code if it failed, or COMPLETED. */
export async function runJob(
  world: World,
  json: Body,
): Promise<{ readonly outcome: string; readonly id: string; readonly text: string }> {
  const { status, body } = await quantum(world, "POST", "/jobs", json);
  const id = String(body["id"]);
  if (status !== 201) return { outcome: String(status), id: "", text: JSON.stringify(body) };
  for (;;) {
    const { body: job } = await quantum(world, "GET", `/jobs/${id}`);
    const error = job["error"] as { readonly code: string; readonly detail: string } | null;
    if (job["status"] === "COMPLETED") return { outcome: "COMPLETED", id, text: "" };
    if (error !== null) return { outcome: error.code, id, text: `${String(job["status"])}: ${error.detail}` };
  }
}

/** Calls `work` for each of the items, so many at a time. */
export async function forEachOf<T>(
  items: readonly T[],
  atOnce: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const left = [...items];
  const take = async () => {
    for (let item = left.shift(); item !== undefined; item = left.shift()) await work(item);
  };
  await Promise.all(Array.from({ length: atOnce }, take));
}
