import { randomUUID } from "node:crypto";
import { mkdir, rename, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { createCliHome, waitFor } from "./cli-process.ts";
import type { CliHome, RunOptions, RunningCli } from "./cli-process.ts";

/** One answer of the local server, with its body parsed where it is JSON. */
interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Readonly<Record<string, unknown>>;
}

export interface ServedProject {
  readonly home: CliHome;
  readonly url: string;
  readonly running: RunningCli;
  readonly write: (path: string, text: string | Uint8Array) => Promise<void>;
  readonly call: (path: string, init?: RequestInit) => Promise<Answer>;
  /** Starts an execution; `wait` holds the answer until it has ended. */
  readonly start: (body: unknown, wait?: boolean) => Promise<Answer>;
  /** Starts one, waits for its end and gives the body of its result. */
  readonly execute: (body: unknown) => Promise<Readonly<Record<string, unknown>>>;
  readonly close: () => Promise<void>;
}

/** Flags of the command, and other files of the project. */
interface ServeOptions extends RunOptions {
  readonly flags?: readonly string[];
  readonly files?: Readonly<Record<string, string | Uint8Array>>;
}

/** A project with this program, served by the real `platform serve` on a free port. */
export async function serveProject(
  program: string,
  { flags = [], files = {}, ...options }: ServeOptions = {},
): Promise<ServedProject> {
  const home = await createCliHome();
  await home.createProject("demo");
  const write = async (path: string, text: string | Uint8Array) => {
    const target = join(home.directory, "demo", path);
    await mkdir(dirname(target), { recursive: true });
    // In one step: otherwise the server may read the file while it is empty.
    const written = join(home.directory, `written-${randomUUID()}`);
    await writeFile(written, text);
    await rename(written, target);
  };
  await write("src/program.py", program);
  for (const [path, text] of Object.entries(files)) await write(path, text);
  const running = home.start(["serve", "--port", "0", "--json", ...flags], { ...options, folder: "demo" });
  const url = await waitFor("the server's address", () => readUrl(running));

  const call = async (path: string, init: RequestInit = {}): Promise<Answer> => {
    const response = await fetch(`${url}${path}`, init);
    const isJson = (response.headers.get("content-type") ?? "").includes("json");
    const body: unknown = isJson ? await response.json() : { text: await response.text() };
    if (typeof body !== "object" || body === null) throw new Error(`no object: ${JSON.stringify(body)}`);
    return { status: response.status, headers: response.headers, body: { ...body } };
  };
  const start = (body: unknown, wait = false) =>
    call("/", {
      method: "POST",
      headers: { "content-type": "application/json", ...(wait ? { prefer: "wait=20" } : {}) },
      body: typeof body === "string" ? body : JSON.stringify(body),
    });
  return {
    home,
    url,
    running,
    write,
    call,
    start,
    execute: async (body) => {
      const started = await start(body, true);
      return (await call(`/${String(started.body["id"])}/result`)).body;
    },
    close: async () => {
      running.interrupt();
      await running.ended;
      await home.close();
    },
  };
}

function readUrl(running: RunningCli): string | undefined {
  const text = running.stdout();
  if (!text.includes("}")) return undefined;
  const described: unknown = JSON.parse(text);
  const hasUrl = typeof described === "object" && described !== null && "url" in described;
  return hasUrl ? String(described.url) : undefined;
}
