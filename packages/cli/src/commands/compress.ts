import { isAbsolute, join, relative, resolve, sep } from "node:path";
import { defineCommand } from "../base/command.ts";
import { formatSize } from "../base/output.ts";
import { writeOutputFile } from "../base/files.ts";

/** `platform compress`: packs as `platform up` does, without a login or a request to the platform. */
export const compressCommand = defineCommand({
  name: "compress",
  summary: "Pack the project into a ZIP file for manual upload",
  description: [
    "Packs the same files as 'platform up': all files except those listed in .platformignore (gitignore syntax), .git, virtual environments, .env and caches.",
    "Projects with the same content have the same hash.",
  ],
  arguments: {},
  options: {
    output: {
      kind: "text",
      short: "o",
      placeholder: "file",
      description: "The ZIP file to write (default: <name>.zip in the project's folder)",
    },
  },
  examples: [
    { command: "platform compress", comment: "Write <name>.zip" },
    {
      command: "platform compress -o /tmp/project.zip --json",
      comment: "Write to another path; print path and hash",
    },
  ],
  run: async (context, { options }) => {
    const { getArchiveName, packProject } = await import("@platform/engine/project/pack");
    const given = options.output === undefined ? undefined : resolve(context.directory, options.output);
    const inside = given === undefined ? null : findPathInside(context.directory, given);
    const packed = await packProject(context.directory, inside === null ? {} : { exclude: [inside] });
    const path = given ?? join(context.directory, getArchiveName(packed.project));
    await writeOutputFile(path, packed.archive);
    context.output.print(
      `Wrote ${path}: ${packed.files} files, ${formatSize(packed.bytes)} packed into ${formatSize(packed.archive.length)}.`,
    );
    context.output.print(`Content hash ${packed.hash}`);
    return {
      json: {
        path,
        hash: packed.hash,
        files: packed.files,
        bytes: packed.bytes,
        archiveBytes: packed.archive.length,
      },
      succeeded: true,
    };
  },
});

/** The path relative to the folder, with `/` as separator; null if it is outside the folder. */
function findPathInside(directory: string, path: string): string | null {
  const inside = relative(directory, path);
  if (inside.startsWith("..") || isAbsolute(inside)) return null;
  return inside.split(sep).join("/");
}
