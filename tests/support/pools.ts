import { setTimeout as delay } from "node:timers/promises";
import type { World } from "./world.ts";

type Content = string | ReadableStream<Uint8Array>;

/** A stored file, as far as tests read it. */
export interface StoredFile {
  readonly fileId: string;
  readonly sha256: string;
  readonly reference: object;
}

/** Makes a data pool, and returns its id. */
export async function createPool(world: World, name = "Maps"): Promise<string> {
  return (await world.api<{ id: string }>("POST", "/data-pools", { name })).body.id;
}

function send(world: World, path: string, init: RequestInit): Promise<Response> {
  const headers = new Headers(init.headers);
  headers.set("authorization", `Bearer ${world.login.personalAccessToken}`);
  return fetch(`${world.platform.apiUrl}/api${path}`, { ...init, headers });
}

/** Sends a file, whatever is answered. */
export function putFile(world: World, pool: string, name: string, body: Content): Promise<Response> {
  return send(world, `/data-pools/${pool}/files/${name}`, {
    method: "PUT",
    body,
    ...(body instanceof ReadableStream ? { duplex: "half" } : {}),
  });
}

/** Stores a file. @throws Error when it is refused */
export async function storeFile(
  world: World,
  pool: string,
  name: string,
  body: Content,
): Promise<StoredFile> {
  const stored = await putFile(world, pool, name, body);
  if (stored.status !== 201) throw new Error(`PUT answered ${stored.status}: ${await stored.text()}`);
  return (await stored.json()) as StoredFile;
}

/** The answer with a file's content. */
export function downloadFile(
  world: World,
  pool: string,
  fileId: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<Response> {
  return send(world, `/data-pools/${pool}/files/${fileId}/content`, { headers });
}

/** Starts a job, and returns its id. @throws Error when it is refused */
export async function startJob(world: World, serviceKey: string, body: object): Promise<string> {
  const started = await world.api<{ id: string }>("POST", `/jobs?serviceKey=${serviceKey}`, body);
  if (started.status !== 201)
    throw new Error(`The start answered ${started.status}: ${JSON.stringify(started.body)}`);
  return started.body.id;
}

/** Waits for the end of a job, and returns its result, or its failure. */
export async function finishJob(world: World, id: string): Promise<Readonly<Record<string, unknown>>> {
  for (;;) {
    const { body } = await world.api<{ terminal?: boolean }>("GET", `/jobs/${id}`);
    if (body.terminal === true) return (await world.api("GET", `/jobs/${id}/result`)).body;
    await delay(100);
  }
}
