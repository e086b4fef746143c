import type { BackendDescription } from "@platform/contract/quantum-api/description";
import type { Outcome } from "@platform/engine/python/port/runtime";
import { createTestService, insertTestVersion } from "./fixtures.ts";
import type { TestUser } from "./fixtures.ts";
import { createHistoryScene } from "./history-scene.ts";
import type { HistoryScene } from "./history-scene.ts";

/** What the quantum API has answered. */
interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: Readonly<Record<string, unknown>>;
}

/** Backends whose jobs are run by the test. */
export interface QuantumScene extends HistoryScene {
  /** Version 2.0.0 of a new service; returns the key of it. */
  readonly createBackend: (
    user: TestUser,
    id: string,
    more?: Partial<BackendDescription>,
    timeoutSeconds?: number,
  ) => Promise<string>;
  /** A further version of a backend, which describes itself as `createBackend` says. */
  readonly addVersion: (
    backend: { readonly serviceKey: string; readonly id: string },
    version: string,
    more?: Partial<BackendDescription>,
    timeoutSeconds?: number,
  ) => Promise<void>;
  /** `request`: such as `GET /jobs`. */
  readonly call: (
    user: TestUser,
    request: string,
    json?: unknown,
    headers?: Readonly<Record<string, string>>,
  ) => Promise<Answer>;
  /** Claims the job that is next and ends it so, unless it is to go on; returns what it was started with. */
  readonly runNext: (outcome: Outcome | null) => Promise<{
    readonly id: string;
    readonly body: string;
    readonly timeoutSeconds: number;
  }>;
}

/** A job that any of the backends runs. */
export const TEST_JOB = { input_format: "OPEN_QASM_V3", input: "h q[0];", shots: 10 } as const;

/** What a backend of the tests says of itself, where a test does not say otherwise. */
export const TEST_DESCRIPTION: BackendDescription = {
  type: "SIMULATOR",
  display_name: "Echo",
  dry_run: true,
  configuration: {
    qubit_count: 2,
    gates: [],
    connectivity: { fully_connected: true },
    shots_range: { min: 1, max: 1_000 },
    max_pubs_per_job: 10,
    supported_input_formats: ["OPEN_QASM_V3"],
    memory_result_supported: false,
  },
};

/** Of a run that has returned this. */
export const succeedWith = (result: unknown): Outcome => ({
  status: "SUCCEEDED",
  result: Buffer.from(JSON.stringify(result)),
  metadata: null,
});

/** On a database of its own. */
export async function createQuantumScene(): Promise<QuantumScene> {
  const scene = await createHistoryScene();
  const addVersion: QuantumScene["addVersion"] = async (
    { serviceKey, id },
    version,
    more = {},
    timeoutSeconds = 60,
  ) => {
    const backend = { id, description: { ...TEST_DESCRIPTION, ...more } };
    await insertTestVersion(scene.home.database, { serviceKey, version, backend, timeoutSeconds });
  };
  return {
    ...scene,
    addVersion,
    createBackend: async (user, id, more, timeoutSeconds) => {
      const { serviceKey } = await createTestService(scene.instance, user, id.replaceAll(".", "-"));
      await addVersion({ serviceKey, id }, "2.0.0", more, timeoutSeconds);
      await scene.home.database.query({
        text: "update service set backend_id = $2 where key = $1 returning key",
        values: [serviceKey, id],
      });
      return serviceKey;
    },
    call: async (user, request, json, headers = {}) => {
      const [method = "", path = ""] = request.split(" ");
      const response = await scene.instance.api.inject({
        method: method as "GET" | "POST" | "PUT" | "PATCH" | "DELETE",
        url: `/quantum${path}`,
        headers: { "x-auth-token": user.token, "content-type": "application/json", ...headers },
        ...(json === undefined ? {} : { payload: JSON.stringify(json) }),
      });
      const body = response.body === "" ? {} : response.json<Record<string, unknown>>();
      return { status: response.statusCode, headers: response.headers, body };
    },
    runNext: async (outcome) => {
      const { claims } = await scene.store.claim({
        workerId: "worker",
        kind: "backend",
        sandboxLevel: "A",
        limit: 1,
        free: { cpu: 100, memory: 100 },
        leaseSeconds: 60,
        excludedVersionIds: [],
      });
      const [claim] = claims;
      if (claim === undefined) throw new Error("No job waits.");
      if (outcome !== null) await scene.store.finish(claim, outcome);
      const { id, timeoutSeconds } = claim;
      return { id, body: Buffer.from(claim.body).toString("utf8"), timeoutSeconds };
    },
  };
}
