import { formatTimestamp } from "@platform/contract/execution";
import { Problem } from "@platform/contract/problems";
import type { BACKENDS_API, Backend } from "@platform/contract/quantum-api/backends";
import type { OperationHandlers } from "@platform/engine/http/types";
import type { PlatformCaller } from "../api/caller.ts";
import { toPrice } from "./price.ts";
import type { BackendLoad, BackendRecord, BackendStore } from "../store/backends.ts";
import { asNamed } from "./aliases.ts";

const UNKNOWN_LOAD: BackendLoad = { waiting: 0, typicalWaitSeconds: null, isServed: false };

/** Handlers of backends but for their calibrations. */
export function createBackendHandlers(
  backends: BackendStore,
): Omit<
  OperationHandlers<typeof BACKENDS_API, PlatformCaller>,
  "getBackendCalibration" | "listBackendCalibrations"
> {
  const readOne = async ({ organisationId }: PlatformCaller, id: string) => {
    const backend = await requireBackend(backends, organisationId, id);
    const loads = await backends.readLoad(organisationId, [backend.serviceKey]);
    return { backend, load: loads.get(backend.serviceKey) ?? UNKNOWN_LOAD };
  };
  const list = async ({ organisationId }: PlatformCaller, wanted: Wanted) => {
    const named = (await backends.list(organisationId)).map(asNamed);
    const all = named.filter((backend) => matches(backend, wanted));
    const loads = await backends.readLoad(
      organisationId,
      all.map(({ serviceKey }) => serviceKey),
    );
    return all.map((backend) => toBackend(backend, loads.get(backend.serviceKey) ?? UNKNOWN_LOAD));
  };
  return {
    listBackends: async ({ caller, query }) => ({ status: 200, body: await list(caller, query) }),
    findLeastBusyBackend: async ({ caller, query }) => {
      const online = (await list(caller, query)).filter(({ status }) => status === "ONLINE");
      const [least] = online.toSorted((a, b) => a.queue_size - b.queue_size);
      if (least === undefined) throw new Problem("BACKEND_NOT_FOUND", "No backend that matches is online.");
      return { status: 200, body: least };
    },
    getBackend: async ({ caller, params }) => {
      const { backend, load } = await readOne(caller, params.backendId);
      return { status: 200, body: toBackend(backend, load) };
    },
    getBackendStatus: async ({ caller, params }) => {
      const { load } = await readOne(caller, params.backendId);
      const body = {
        status: toState(load),
        queue_size: load.waiting,
        queue_avg_time: Math.ceil(load.typicalWaitSeconds ?? 0),
      };
      return { status: 200, body };
    },
    getBackendConfig: async ({ caller, params }) => {
      const { description } = await requireBackend(backends, caller.organisationId, params.backendId);
      return { status: 200, body: description.config ?? { ...description } };
    },
  };
}

/** @throws Problem BACKEND_NOT_FOUND */
export async function requireBackend(
  backends: Pick<BackendStore, "find">,
  organisationId: string,
  id: string,
): Promise<BackendRecord> {
  const backend = await backends.find(organisationId, id);
  if (backend === null)
    throw new Problem("BACKEND_NOT_FOUND", `The organisation has no backend ${id.slice(0, 100)}.`);
  return asNamed(backend);
}

/** Who gives access to a backend, where it does not say. */
export const OWN_PROVIDER = "PLATFORM";

/** Of YYYY-MM-DD. */
const DAY_LENGTH = 10;

interface Wanted {
  /** Set by clients of circuits, which can read no other backends. */
  readonly onlyPlanqkSdk?: string;
  readonly onlyQiskit?: string;
  readonly provider?: string;
  readonly type?: string;
  readonly minQubits?: number;
}

function hasGates({ configuration }: BackendRecord["description"]): boolean {
  return configuration.qubit_count !== undefined;
}

function matches(
  { description }: BackendRecord,
  { provider, type, minQubits = 0, onlyPlanqkSdk, onlyQiskit }: Wanted,
): boolean {
  return (
    (hasGates(description) || (onlyPlanqkSdk === undefined && onlyQiskit === undefined)) &&
    (provider === undefined || (description.provider ?? OWN_PROVIDER) === provider) &&
    (type === undefined || description.type === type) &&
    // An annealer has none.
    (description.configuration.qubit_count ?? 0) >= minQubits
  );
}

function toState({ isServed }: BackendLoad): Backend["status"] {
  return isServed ? "ONLINE" : "PAUSED";
}

function toBackend(
  { id, serviceKey, description, version, versionedAt }: BackendRecord,
  load: BackendLoad,
): Backend {
  const { documentation = {}, configuration } = description;
  return {
    id,
    internal_id: serviceKey,
    name: id,
    display_name: description.display_name,
    provider: description.provider ?? OWN_PROVIDER,
    hardware_provider: description.hardware_provider ?? null,
    type: description.type,
    technology: description.technology ?? "UNKNOWN",
    status: toState(load),
    queue_size: load.waiting,
    access_type: "FREE",
    has_calibration: description.calibration !== undefined,
    deterministic: description.deterministic ?? false,
    dry_run: description.dry_run ?? false,
    price: toPrice(description),
    backend_version: version.version,
    updated_at: formatTimestamp(versionedAt).slice(0, DAY_LENGTH),
    documentation,
    configuration: hasGates(description) ? { gates: [], instructions: [], ...configuration } : configuration,
  };
}
