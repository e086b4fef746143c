import { createServiceOpenApi } from "@platform/contract/service-openapi";
import { readClientCore } from "./client-core.ts";
import { nameClient } from "./client-names.ts";
import type { ModelPart, generateModels } from "./generate-models.ts";
import type { ClientLanguage } from "@platform/contract/platform-api/marketplace";
import { listClientFiles } from "./package-client.ts";
import type { ClientSubject, PackageFiles } from "./package-client.ts";
import { toPlainSchema } from "./plain-schema.ts";

type Json = Readonly<Record<string, unknown>>;

/** A version as its client needs it. */
export interface ClientVersion {
  readonly serviceKey: string;
  readonly service: string;
  /** MAJOR.MINOR.PATCH. */
  readonly version: string;
  readonly inputSchema: Json | null;
  readonly outputSchema: Json | null;
  readonly exampleInput: { readonly data?: unknown; readonly params?: unknown } | null;
}

/** What a client is created with. */
export interface ClientDeps {
  readonly generateModels: typeof generateModels;
  /** Origin of the gateway as clients see it, without a final slash. */
  readonly gatewayUrl: string;
}

/** The files of a client, and whether all that its schemas say became types. */
export interface CreatedClient {
  readonly files: PackageFiles;
  /** False: the models could not be generated in their time or memory, which may succeed at another time. */
  readonly isLasting: boolean;
}

/** Creates the client of a version in a language. */
export async function createClient(
  found: ClientVersion,
  language: ClientLanguage,
  { generateModels, gatewayUrl }: ClientDeps,
): Promise<CreatedClient> {
  const names = nameClient(found.service);
  const parts = listParts(found);
  const generated =
    parts.length === 0
      ? null
      : await generateModels({ language, parts, javaPackage: `${names.javaPackage}.models` });
  const endpoint = getEndpoint(found, gatewayUrl);
  const subject: ClientSubject = {
    language,
    names,
    endpoint,
    service: found.service,
    version: found.version,
    exampleInput: found.exampleInput,
    openApi: describeApi(found, gatewayUrl),
    models: generated === null ? null : { typed: parts.map(({ name }) => name), files: generated },
  };
  const core = await readClientCore(language);
  return { files: listClientFiles(subject, core), isLasting: parts.length === 0 || generated !== null };
}

/** What has members that are known. */
function listParts({ inputSchema, outputSchema }: ClientVersion): readonly ModelPart[] {
  const properties = (inputSchema?.["properties"] ?? {}) as Json;
  const withDefinitions = (part: unknown) =>
    typeof part === "object" && part !== null ? { ...part, $defs: inputSchema?.["$defs"] } : null;
  const schemas = {
    Data: withDefinitions(properties["data"]),
    Params: withDefinitions(properties["params"]),
    Output: outputSchema,
  };
  return Object.entries(schemas).flatMap(([name, schema]) => {
    const plain = schema === null ? null : toPlainSchema(schema);
    return plain === null ? [] : [{ name: name as ModelPart["name"], schema: plain }];
  });
}

/** The OpenAPI document of a version. */
export function describeApi(found: ClientVersion, gatewayUrl: string): object {
  return createServiceOpenApi({
    name: found.service,
    version: found.version,
    description: "",
    server: { url: getEndpoint(found, gatewayUrl), description: "Endpoint of the version" },
    inputSchema: found.inputSchema,
    tokenUrl: `${gatewayUrl}/token`,
  });
}

function getEndpoint({ serviceKey, service, version }: ClientVersion, gatewayUrl: string): string {
  return `${gatewayUrl}/${serviceKey}/${service}/${version}`;
}
