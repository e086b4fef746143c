/** Services with the calls of samples that are published for other platforms of this kind. */
import { cp, readFile } from "node:fs/promises";
import { join } from "node:path";
import { REPOSITORY } from "../../tools/platform-process.ts";
import type { World } from "../support/world.ts";
import { SDK } from "./pytest.ts";

const HERE = join(REPOSITORY, "tests/quantum");
const RESOURCES = { cpu: 0.5, memory: 1 };
/** Qiskit is imported. */
const COLD_SECONDS = 300;

/** A program, what is changed in its text, and what its service is called with. */
interface Sample {
  readonly file: string;
  readonly changes: readonly (readonly [from: string, to: string])[];
  /** The bundled backend whose packages it needs: both share one environment. */
  readonly packages: string;
}

/** What a service answers: its result, and where the files of it are. */
interface Answer {
  readonly result: Readonly<Record<string, unknown>>;
}

/** By Qiskit alone; nothing is changed. */
export const RANDOM_NUMBER: Sample = {
  file: "samples/random_number.py",
  changes: [],
  packages: "statevector",
};
/** Written for a published SDK; import and class are those of ours, the id of the backend is as it was. */
export const COIN_TOSS: Sample = {
  file: "published/coin_toss.py",
  changes: [
    ["planqk.quantum.sdk", "platform_quantum"],
    ["PlanqkQuantumProvider", "PlatformQuantumProvider"],
  ],
  packages: "statevector",
};
/** The line of the import is changed. */
export const ANNEALING: Sample = {
  file: "samples/annealing.py",
  changes: [
    [
      "from planqk.dwave.provider import PlanqkDwaveProvider",
      "from platform_quantum.annealing import PlatformDwaveProvider as PlanqkDwaveProvider",
    ],
  ],
  packages: "annealing",
};

/** Deploys a sample, and returns what calls it as an application does. @throws Error where a change finds nothing to change */
export async function deploySample(world: World, { file, changes, packages }: Sample) {
  const name = file.replaceAll(/[\W_]+/gu, "-");
  const text = await readFile(join(HERE, file), "utf8");
  const program = changes.reduce((changed, [from, to]) => {
    if (!changed.includes(from)) throw new Error(`${file} has no ${from}`);
    return changed.replaceAll(from, to);
  }, text);
  const project = await world.createProject(name, program, {
    "requirements.txt": await readFile(join(REPOSITORY, "backends", packages, "requirements.txt"), "utf8"),
    "platform.json": JSON.stringify({ name, runtime: "PYTHON_TEMPLATE", resources: RESOURCES }),
  });
  await cp(join(SDK, "platform_quantum"), join(project, "platform_quantum"), { recursive: true });
  const { serviceKey } = await world.deploy(project);
  const consumer = await world.subscribe(serviceKey);
  return async (body: object): Promise<Answer> => {
    const { body: started } = await consumer.start(body);
    const { status } = await consumer.finish(started.id, COLD_SECONDS);
    const { body: answer } = await consumer.call<Answer>("GET", `/${started.id}/result`);
    if (status !== "SUCCEEDED") throw new Error(`${file}: ${status} ${JSON.stringify(answer)}`);
    return answer;
  };
}
