import { strFromU8, unzip } from "fflate";
import { MAX_PROJECT_FILE_BYTES } from "@platform/contract/limits";
import { SERVICE_NAME_PATTERN } from "@platform/contract/project";

/** What an archive says of itself. */
export interface ProjectFacts {
  readonly name: string;
  readonly description: string;
  readonly files: number;
  /** Of all files, unpacked. */
  readonly bytes: number;
  /** Paths of files that are rarely meant to be deployed: secrets and histories. */
  readonly doubtful: readonly string[];
}

const PROJECT_FILE = "platform.json";
const DOUBTFUL =
  /(?:^|\/)(?:\.env(?:\..*)?|\.git|\.venv|venv|__pycache__|node_modules|.*\.pem|id_[a-z0-9]+)(?:\/|$)/u;
const SHOWN = 20;

/** Reads what `platform compress` has packed, or anybody else. Nothing but `platform.json` is unpacked. @throws Error, a sentence for people */
export async function readProject(archive: Uint8Array): Promise<ProjectFacts> {
  const paths: string[] = [];
  let bytes = 0;
  const found = await unpack(archive, (path, size) => {
    if (!path.endsWith("/")) paths.push(path);
    bytes += size;
    return path === PROJECT_FILE && size <= MAX_PROJECT_FILE_BYTES;
  });
  const content = found[PROJECT_FILE];
  if (content === undefined) throw new Error(explainMissing(paths));
  const { name, description } = parse(strFromU8(content));
  return {
    name,
    description,
    files: paths.length,
    bytes,
    doubtful: paths.filter((path) => DOUBTFUL.test(path)).slice(0, SHOWN),
  };
}

function unpack(
  archive: Uint8Array,
  filter: (path: string, size: number) => boolean,
): Promise<Readonly<Record<string, Uint8Array>>> {
  return new Promise((resolve, reject) => {
    const options = {
      filter: (file: { name: string; originalSize: number }) => filter(file.name, file.originalSize),
    };
    unzip(archive, options, (error, files) => {
      if (error === null) resolve(files);
      else reject(new Error("This is no ZIP file."));
    });
  });
}

function explainMissing(paths: readonly string[]): string {
  const below = paths.find((path) => path.endsWith(`/${PROJECT_FILE}`));
  if (below === undefined) return `There is no ${PROJECT_FILE} at the top of the archive.`;
  const folder = below.slice(0, -PROJECT_FILE.length);
  return `${PROJECT_FILE} lies in the folder '${folder}': pack what is in the folder, not the folder.`;
}

function parse(text: string): { readonly name: string; readonly description: string } {
  let found: unknown;
  try {
    found = JSON.parse(text);
  } catch {
    throw new Error(`${PROJECT_FILE} is no valid JSON.`);
  }
  const { name, description } = Object(found) as { readonly name?: unknown; readonly description?: unknown };
  if (typeof name !== "string" || name === "") throw new Error(`${PROJECT_FILE} has no name.`);
  if (!new RegExp(SERVICE_NAME_PATTERN, "u").test(name))
    throw new Error(
      `name in ${PROJECT_FILE} must be lower-case letters, digits and hyphens, at most 63, and not begin or end with a hyphen.`,
    );
  return { name, description: typeof description === "string" ? description : "" };
}
