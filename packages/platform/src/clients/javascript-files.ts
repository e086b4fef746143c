import type { ClientSubject, PackageFiles } from "./package-client.ts";

const PARTS = ["Data", "Params", "Output"] as const;

/** The files of a JavaScript client that are not in every one. */
export function writeJavaScriptFiles({ names, version, endpoint, models }: ClientSubject): PackageFiles {
  const typed = PARTS.filter((part) => models?.typed.includes(part));
  const untyped = PARTS.filter((part) => !typed.includes(part));
  const description = {
    name: names.distribution,
    version,
    description: "Client of a service",
    type: "module",
    exports: { ".": { types: "./index.d.ts", default: "./index.js" } },
    engines: { node: ">=18" },
  };
  return {
    "package.json": `${JSON.stringify(description, null, 2)}\n`,
    "index.js": `import { Client as CoreClient } from "./core/index.js";

export * from "./core/index.js";

const ENDPOINT = ${JSON.stringify(endpoint)};

/** Client of the service; the endpoint is that of the service unless another one is given. */
export class Client extends CoreClient {
  constructor(options = {}) {
    super({ ...options, endpoint: options.endpoint || globalThis.process?.env?.PLATFORM_SERVICE_ENDPOINT || ENDPOINT });
  }
}
`,
    "index.d.ts": `import { Client as CoreClient } from "./core/index.js";
import type { ClientOptions, JsonObject } from "./core/index.js";
${typed.length === 0 ? "" : `import type { ${typed.join(", ")} } from "./models.js";\n`}
export * from "./core/index.js";
export type { ${typed.join(", ")} };
${untyped.map((part) => `export type ${part} = JsonObject;\n`).join("")}
/** Client of the service; the endpoint is that of the service unless another one is given. */
export class Client extends CoreClient<Data, Params, Output> {
  constructor(options?: ClientOptions);
}
`,
    "example/example.js": `import { readFile } from "node:fs/promises";
import { Client } from "../index.js";

const read = async (name) => JSON.parse(await readFile(new URL(name, import.meta.url), "utf8"));

const client = new Client();
const result = await client.run(await read("data.json"), await read("params.json"), { timeout: 600 });
console.log(JSON.stringify(result.output));
`,
  };
}
