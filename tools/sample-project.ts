import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DEFAULT_RESOURCES } from "../packages/contract/src/project.ts";
import { DEFAULT_TEMPLATE, createProject } from "../packages/cli/src/project/create-project.ts";

/** What the console puts the name of the service in the place of. */
const NAME = "{{name}}";

/** The project that the console offers to start with: what `platform init` writes. */
export async function createSampleProject(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "platform-sample-"));
  try {
    const project = { name: NAME, template: DEFAULT_TEMPLATE, resources: DEFAULT_RESOURCES };
    const { directory, files } = await createProject(folder, project);
    const lines = await Promise.all(
      files.map(async (path) => {
        const text = await readFile(join(directory, path), "utf8");
        return `  ${JSON.stringify(path)}: ${JSON.stringify(text)},`;
      }),
    );
    return [
      "/* Written by `npm run gen`. */",
      "",
      `/** Files of the project that \`platform init\` writes, by path; ${NAME} is in the place of its name. */`,
      "// oxfmt-ignore",
      "export const SAMPLE_FILES: Readonly<Record<string, string>> = {",
      ...lines,
      "};",
      "",
    ].join("\n");
  } finally {
    await rm(folder, { recursive: true });
  }
}
