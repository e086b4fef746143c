/** Started by a test as a process of its own, which the test then kills: a build of level C that downloads from an index that never answers. */
import { openEnvironmentScene } from "./environment-scene.ts";

const [address = ""] = process.argv.slice(2);
const scene = await openEnvironmentScene();
const builder = scene.create({ bubblewrap: null, confined: true });
const project = await scene.createProject("project", {
  "requirements.txt": `${address}/tiny-1.0-py3-none-any.whl\n`,
});
process.stdout.write(`${scene.path}\n`);
await builder.ensure(project, { owner: "organisation" });
