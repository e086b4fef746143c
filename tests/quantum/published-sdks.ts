/** SDKs that were published for other platforms, as they are, on the bundled simulators: programs of ours use them as black boxes. Hundreds of megabytes of packages each. */
import { join } from "node:path";
import { REPOSITORY } from "../../tools/platform-process.ts";
import { runOk } from "../clients/tools.ts";
import type { World } from "../support/world.ts";
import { findPython } from "./pytest.ts";

const HERE = join(REPOSITORY, "tests/quantum");

/** What a program has said, as JSON; or why it could not be run. */
type Answer = { readonly said: unknown } | { readonly reason: string };

/** A program, and what it is to say. */
interface Published {
  readonly name: string;
  readonly run: (world: World) => Promise<Answer>;
  readonly expected: unknown;
}

/** The first qubit is the last digit, whatever is between; of Braket it is the first one. */
const TURNED = { "001": 50 };

/** The programs. */
export const PUBLISHED: readonly Published[] = [
  {
    name: "qhub-quantum 1.18 runs as it is",
    run: runProgram("qhub", "QHUB_QUANTUM_BASE_URL", "KQH_PERSONAL_ACCESS_TOKEN"),
    expected: {
      counts: {
        "azure.ionq.simulator": TURNED,
        "qudora.sim.xg1": TURNED,
        "kipu.sim.qsim": TURNED,
        "aws.sim.sv1": TURNED,
        "aws.sim.dm1": TURNED,
      },
      batch: [TURNED, { "100": 50 }],
      braket: { "100": 50 },
      noise: { "01": 50 },
      // A known fault of the published class, which ours has not: it has no shots one by one.
      sampler: { "000": 50 },
      again: true,
      listed: true,
      pauses: 0,
      session: {
        opened: "OPEN",
        counts: TURNED,
        named: true,
        used: "INACTIVE",
        drained: "DRAINING",
        closed: "CLOSED",
      },
      refused: { token: 401, backend: 404 },
    },
  },
  {
    name: "planqk-quantum 3.1 runs as it is",
    run: runProgram("planqk", "PLANQK_QUANTUM_BASE_URL", "PLANQK_PERSONAL_ACCESS_TOKEN"),
    expected: {
      counts: { "azure.ionq.simulator": TURNED, "aws.sim.sv1": TURNED, "aws.sim.dm1": TURNED },
      braket: { "100": 50 },
      noise: { "01": 50 },
    },
  },
];

function runProgram(name: string, address: string, token: string) {
  return async (world: World): Promise<Answer> => {
    const client = await findPython(join(HERE, `requirements-${name}.txt`));
    if ("reason" in client) return client;
    const environment = {
      HOME: world.directory,
      [address]: `${world.platform.apiUrl}/quantum`,
      [token]: world.login.personalAccessToken,
    };
    const printed = await runOk([client.python, join(HERE, `published/${name}_simulators.py`)], {
      environment,
    });
    // What else is printed is the SDK's.
    return { said: JSON.parse(printed.trimEnd().split("\n").at(-1) ?? "") as unknown };
  };
}
