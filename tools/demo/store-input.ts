import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { expectOk, request } from "../platform-client.ts";
import { PROJECT } from "./demo-cli.ts";
import { remark, report } from "./report.ts";

const run = promisify(execFile);

const POOL = "tsplib";
const FILE = "berlin52.json";

/** Who stores the file, and the application that may read it. */
interface StoreInputOptions {
  readonly apiUrl: string;
  readonly token: string;
  readonly applicationId: string;
}

/** What names the file in a start. */
interface StoredInput {
  readonly reference: object;
}

/** Stores a problem of TSPLIB in a data pool, which may be there from a former demo, and lets the application refer to its files. */
export async function storeInput({ apiUrl, token, applicationId }: StoreInputOptions): Promise<StoredInput> {
  const api = <T>(method: string, path: string, options: Parameters<typeof request>[2] = {}) =>
    expectOk(request<T>(method, `${apiUrl}/api/data-pools${path}`, { token, ...options }));
  const { items } = await api<{ items: readonly { id: string; name: string }[] }>("GET", "");
  const former = items.find(({ name }) => name === POOL);
  const { id } = former ?? (await api<{ id: string }>("POST", "", { json: { name: POOL } }));
  await api("PUT", `/${id}/grants/${applicationId}`, { json: { access: "read" } });
  const { stdout } = await run("python3", [join(PROJECT, "tsplib.py"), join(PROJECT, "input/berlin52.tsp")]);
  const headers = { "content-type": "application/json" };
  const { reference, bytes } = await api<{ reference: object; bytes: number }>(
    "PUT",
    `/${id}/files/${FILE}`,
    { headers, body: stdout },
  );
  report(`PUT .../data-pools/ID/files/...`, `${FILE} of TSPLIB, ${bytes} bytes, in the data pool '${POOL}'`);
  remark("and PUT .../grants/ID: the application may refer to its files");
  return { reference };
}
