import { cp, mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { REPOSITORY } from "../../tools/platform-process.ts";
import type { World } from "../support/world.ts";
import { SDK } from "./pytest.ts";

/** What differs from the bundled simulator of states. */
interface Variant {
  readonly name: string;
  /** Members of its `platform.json`. */
  readonly project: Readonly<Record<string, unknown>>;
  /** What its program goes on with. */
  readonly more?: string;
}

/** Deploys a backend that is the bundled simulator of states, but for a few things: both share one environment. */
export async function deployVariant(world: World, { name, project, more = "" }: Variant): Promise<void> {
  const folder = join(world.directory, name);
  await mkdir(folder);
  await cp(join(REPOSITORY, "backends/statevector"), folder, { recursive: true });
  await cp(join(SDK, "platform_quantum"), join(folder, "platform_quantum"), { recursive: true });
  const file = join(folder, "platform.json");
  const bundled = JSON.parse(await readFile(file, "utf8")) as object;
  await writeFile(file, JSON.stringify({ ...bundled, name, ...project }));
  const program = join(folder, "src/program.py");
  await writeFile(program, `${await readFile(program, "utf8")}${more}`);
  await world.deploy(folder);
}

/** A backend whose QPY no client writes any more, and whose jobs have a price: for `sdk/python/tests/acceptance`. */
export const OLDER: Variant = {
  name: "older",
  project: { backend: { id: "sim.older" }, resources: { cpu: 0.5, memory: 1 } },
  more: `

def describe(bundled=describe):
    described = bundled()
    configuration = {**described["configuration"], "qpy": {"min": 10, "max": 12}}
    price = {"currency": "EUR", "perJob": "0.5"}
    return {**described, "configuration": configuration, "price": price}
`,
};
