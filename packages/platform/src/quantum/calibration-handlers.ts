import { formatTimestamp } from "@platform/contract/execution";
import type { BACKENDS_API } from "@platform/contract/quantum-api/backends";
import type { QUANTUM_JOB_PARTS_API } from "@platform/contract/quantum-api/job-parts";
import { readTime } from "@platform/engine/http/paging";
import { refuseParameter } from "@platform/engine/http/query";
import type { OperationHandlers } from "@platform/engine/http/types";
import type { PlatformCaller } from "../api/caller.ts";
import type { CalibrationRecord } from "../store/quantum-calibrations.ts";
import { requireBackend } from "./backend-handlers.ts";
import type { QuantumJobDeps } from "./job-deps.ts";
import type { KnownFacts } from "./known-facts.ts";

type Handlers = Pick<
  OperationHandlers<typeof BACKENDS_API & typeof QUANTUM_JOB_PARTS_API, PlatformCaller>,
  "getBackendCalibration" | "listBackendCalibrations" | "getQuantumJobCalibration"
>;

/** Calibrations of a list, where nobody says how many. */
const DEFAULT_SIZE = 20;

/** Handlers of calibrations: of a backend at present and before, and of what a job runs on. */
export function createCalibrationHandlers(
  { backends, quantumCalibrations }: Pick<QuantumJobDeps, "backends" | "quantumCalibrations">,
  known: Pick<KnownFacts, "require">,
): Handlers {
  return {
    getBackendCalibration: async ({ caller: { organisationId }, params, query }) => {
      const at = readTime("effectiveAt", query.effectiveAt);
      const { serviceKey, description } = await requireBackend(backends, organisationId, params.backendId);
      const found =
        at === undefined
          ? description.calibration
          : await quantumCalibrations.findAt({ organisationId, serviceKey }, at);
      return answer(found ?? null);
    },
    listBackendCalibrations: async ({ caller: { organisationId }, params, query }) => {
      const filter = {
        start: readTime("start", query.start),
        end: readTime("end", query.end),
        before: query.before,
        limit: query.size ?? DEFAULT_SIZE,
      };
      const { serviceKey } = await requireBackend(backends, organisationId, params.backendId);
      const found = await quantumCalibrations.list({ organisationId, serviceKey }, filter);
      if (found === null) throw refuseParameter("before", NO_VERSION);
      return { status: 200, body: { content: found.items.map(toCalibration), last: found.isLast } };
    },
    getQuantumJobCalibration: async ({ caller, params }) => {
      const { id } = await known.require(caller, params.id);
      return answer(await quantumCalibrations.findOfJob(caller.organisationId, id));
    },
  };
}

const NO_VERSION = "must be the version of the backend with which the last page has ended";

function answer(calibration: CalibrationRecord["calibration"] | null) {
  return calibration === null
    ? ({ status: 204 } as const)
    : ({ status: 200, body: { ...calibration } } as const);
}

function toCalibration({ version, madeAt, retiredAt, calibration }: CalibrationRecord) {
  return {
    backend_version: version,
    calibrated_at: formatTimestamp(madeAt),
    retired_at: retiredAt === null ? null : formatTimestamp(retiredAt),
    calibration: { ...calibration },
  };
}
