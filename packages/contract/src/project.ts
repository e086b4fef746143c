import { Type } from "typebox";
import type { Static } from "typebox";
import { NetworkSchema } from "./network.ts";
import { VARIABLE_NAME_PATTERN } from "./variable-names.ts";

/** Pattern of service names. A name is part of the URL of the endpoint. */
export const SERVICE_NAME_PATTERN = "^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$";

/** The name of the project file, in the root of every project. */
export const PROJECT_FILE = "platform.json";

/** The file that lists, in gitignore syntax, which files are not packed. */
export const IGNORE_FILE = ".platformignore";

/** The module with the entry point of a project, the function `run`. */
export const PROGRAM_FILE = "src/program.py";

/** Resource limits of one execution. */
export const ResourcesSchema = Type.Object(
  {
    cpu: Type.Number({
      exclusiveMinimum: 0,
      maximum: 256,
      multipleOf: 0.001,
      default: 1,
      description: "vCPUs of one execution; fractions such as 0.5 are accepted",
    }),
    memory: Type.Number({
      minimum: 0.01,
      maximum: 4096,
      default: 1,
      description: "Memory of one execution in GB",
    }),
  },
  {
    additionalProperties: false,
    title: "Resources",
    description: "What one execution may use",
  },
);

/** Resource limits of one execution: `cpu` in vCPUs, `memory` in GB (1024^3 bytes). */
export type Resources = Static<typeof ResourcesSchema>;

/** Resource limits of projects that do not declare any. */
export const DEFAULT_RESOURCES: Resources = { cpu: 1, memory: 1 };

/** The same of external backends, which only wait. */
const EXTERNAL_RESOURCES: Resources = { cpu: 0.05, memory: 0.25 };

/** Wall-clock limit of one execution if the project declares none, in seconds: 1 hour. */
export const DEFAULT_TIMEOUT_SECONDS = 60 * 60;

/** What the wall-clock limit of one execution may be. */
export const TIMEOUT_SECONDS = { minimum: 1, maximum: 7 * 24 * 60 * 60 } as const;

/** The most that one execution may print, in MB (1024^2 bytes). */
const MAX_LOG_MEGABYTES = 16;
/** The most that one execution may return on any platform, in MB: its size is sent in 32 bits. */
const MAX_RESULT_MEGABYTES = 4_000;

/** What one execution may return and print. */
const OutputLimitsSchema = Type.Object(
  {
    resultMegabytes: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: MAX_RESULT_MEGABYTES,
        description: "Largest result in MB of JSON text; default, and at most: what the platform allows",
      }),
    ),
    logMegabytes: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: MAX_LOG_MEGABYTES,
        description: "Largest log in MB as stored; default 16",
      }),
    ),
  },
  { additionalProperties: false, description: "What one execution may return and print" },
);

/** What one execution may return and print, in MB (1024^2 bytes); what is missing has the platform's limit. */
export type OutputLimits = Static<typeof OutputLimitsSchema>;

/** Pattern of the ids of backends: lower-case words of letters, digits and hyphens, with dots between them. */
export const BACKEND_ID_PATTERN = "^(?=.{1,63}$)[a-z0-9]+(?:-[a-z0-9]+)*(?:\\.[a-z0-9]+(?:-[a-z0-9]+)*)*$";

/** What a project is: a service, or a backend that runs quantum jobs. */
export type ProjectKind = "service" | "backend";

/** JSON Schema of `platform.json`. */
export const ProjectSchema = Type.Object(
  {
    $schema: Type.Optional(Type.String()),
    name: Type.String({
      pattern: SERVICE_NAME_PATTERN,
      description: "Service name: lower-case letters, digits and hyphens, at most 63",
    }),
    backend: Type.Optional(
      Type.Object(
        {
          id: Type.String({
            pattern: BACKEND_ID_PATTERN,
            description: "What quantum jobs name the backend by, such as sim.statevector",
          }),
          external: Type.Optional(
            Type.Boolean({
              description:
                "true: its executions wait for jobs elsewhere. They are taken up again when their worker is lost, need little (default 0.05 vCPUs and 0.25 GB), and have 15 seconds to end; default false",
            }),
          ),
        },
        {
          additionalProperties: false,
          description:
            "Makes it a backend, which runs quantum jobs: src/program.py then has a function describe beside run",
        },
      ),
    ),
    descriptionFile: Type.Optional(
      Type.String({ minLength: 1, description: "Path of the Markdown file that describes the service" }),
    ),
    isolation: Type.Optional(
      Type.Union([Type.Literal("fork"), Type.Literal("spawn")], {
        description:
          "What executions share: fork (default): each is a copy of a process that has imported the module, if that is safe; spawn: each is a fresh interpreter that imports the module itself",
      }),
    ),
    network: Type.Optional(NetworkSchema),
    output: Type.Optional(OutputLimitsSchema),
    resources: Type.Optional(Type.Partial(ResourcesSchema, { additionalProperties: false })),
    runtime: Type.Literal("PYTHON_TEMPLATE"),
    sourceBuilds: Type.Optional(
      Type.Boolean({
        description:
          "true: requirements without a wheel are built from their source, which runs their code; default false",
      }),
    ),
    timeoutSeconds: Type.Optional(
      Type.Integer({
        ...TIMEOUT_SECONDS,
        description: "Wall-clock limit of one execution in seconds; default 3600",
      }),
    ),
    variables: Type.Optional(
      Type.Array(Type.String({ pattern: VARIABLE_NAME_PATTERN }), {
        maxItems: 100,
        uniqueItems: true,
        description:
          "Names of the variables and secrets that the code needs: builds and `platform serve` say which are not set",
      }),
    ),
  },
  { additionalProperties: false, title: "platform.json" },
);

/** The content of `platform.json`. */
export type Project = Static<typeof ProjectSchema>;

/** Whether its executions wait for jobs elsewhere. */
export function isExternal({ backend }: Pick<Project, "backend">): boolean {
  return backend?.external === true;
}

/** What one execution may use, with the defaults of what the project does not say. */
export function readResources(project: Pick<Project, "backend" | "resources">): Resources {
  return { ...(isExternal(project) ? EXTERNAL_RESOURCES : DEFAULT_RESOURCES), ...project.resources };
}

/** What a project of this content is. */
export function readKind({ backend }: Pick<Project, "backend">): ProjectKind {
  return backend === undefined ? "service" : "backend";
}
