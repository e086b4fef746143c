import { createHash } from "node:crypto";
import { buffer } from "node:stream/consumers";
import { ZipFile } from "yazl";
import type { ClientNames } from "./client-names.ts";
import type { ClientCore } from "./client-core.ts";
import { writeJavaFiles } from "./java-files.ts";
import { writeJavaScriptFiles } from "./javascript-files.ts";
import type { ClientLanguage } from "@platform/contract/platform-api/marketplace";
import type { ModelFiles, ModelPart } from "./generate-models.ts";
import { writePythonFiles } from "./python-files.ts";
import { writeReadme } from "./readme.ts";

/** Texts of files by their path. */
export type PackageFiles = Readonly<Record<string, string>>;

/** What a client is of. */
export interface ClientSubject {
  readonly language: ClientLanguage;
  readonly service: string;
  /** MAJOR.MINOR.PATCH of the service. */
  readonly version: string;
  readonly names: ClientNames;
  /** Endpoint URL, without a final slash. */
  readonly endpoint: string;
  readonly exampleInput: { readonly data?: unknown; readonly params?: unknown } | null;
  /** OpenAPI document of the version. */
  readonly openApi: object;
  /** Null: there are none, input and result are plain JSON. */
  readonly models: { readonly typed: readonly ModelPart["name"][]; readonly files: ModelFiles } | null;
}

/** A ZIP stores local time without a zone: this is the same wall clock time everywhere. */
const FIXED_TIME = { year: 2000, month: 0, day: 1 };
const FIXED_MODE = 0o100644;

/** The files of a client; no two subjects that are equal get different ones. */
export function listClientFiles(subject: ClientSubject, core: ClientCore): PackageFiles {
  const { exampleInput, openApi } = subject;
  const files: PackageFiles = {
    ...OWN_FILES[subject.language](subject, core),
    ...core.common,
    "README.md": writeReadme(subject),
    "example/data.json": toText(exampleInput?.data ?? {}),
    "example/params.json": toText(exampleInput?.params ?? {}),
    "openapi.json": toText(openApi),
  };
  return { ...files, "manifest.json": toText(describe(subject, files)) };
}

const OWN_FILES: Readonly<
  Record<ClientLanguage, (subject: ClientSubject, core: ClientCore) => PackageFiles>
> = {
  python: (subject, core) => {
    const { module } = subject.names;
    return {
      ...writePythonFiles(subject),
      ...place(core.files, (name) => (name === "build_backend.py" ? name : `${module}/core/${name}`)),
      ...place(subject.models?.files ?? {}, (name) => `${module}/${name}`),
      [`${module}/py.typed`]: "",
    };
  },
  javascript: (subject, core) => ({
    ...writeJavaScriptFiles(subject),
    ...place(core.files, (name) => `core/${name}`),
    ...subject.models?.files,
  }),
  java: (subject, core) => {
    const { javaPackage } = subject.names;
    const folder = `src/main/java/${javaPackage.replaceAll(".", "/")}`;
    const { "pom.xml": pom = "", ...sources } = core.files;
    const moved = Object.fromEntries(
      Object.entries(sources).map(([name, text]) => [
        `${folder}/core/${name}`,
        text.replaceAll("io.platform.client", `${javaPackage}.core`),
      ]),
    );
    return {
      ...writeJavaFiles(subject, pom),
      ...moved,
      ...place(subject.models?.files ?? {}, (name) => `${folder}/models/${name}`),
    };
  },
};

/** A ZIP file in which equal files have equal bytes: sorted, with fixed times and modes. */
export async function zipClient(files: PackageFiles): Promise<Buffer> {
  const zip = new ZipFile();
  const mtime = new Date(FIXED_TIME.year, FIXED_TIME.month, FIXED_TIME.day);
  for (const [path, text] of Object.entries(files).sort(([one], [other]) => (one < other ? -1 : 1)))
    zip.addBuffer(Buffer.from(text), path, { mtime, mode: FIXED_MODE });
  zip.end();
  return await buffer(zip.outputStream);
}

function place(files: PackageFiles, toPath: (name: string) => string): PackageFiles {
  return Object.fromEntries(Object.entries(files).map(([name, text]) => [toPath(name), text]));
}

/** What the client was made of: the same values mean the same client. */
function describe({ language, service, version, endpoint }: ClientSubject, files: PackageFiles): object {
  const hashes = Object.entries(files)
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([path, text]) => [path, createHash("sha256").update(text).digest("hex")]);
  return { language, service, version, endpoint, sha256: Object.fromEntries(hashes) };
}

function toText(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}
