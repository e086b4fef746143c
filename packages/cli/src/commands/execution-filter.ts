import { EXECUTION_STATUSES, isExecutionStatus } from "@platform/contract/execution";
import type { ExecutionStatus } from "@platform/contract/execution";
import { EXECUTION_KIND_NAMES } from "@platform/contract/platform-api/executions";
import type { ExecutionKind } from "@platform/contract/platform-api/executions";
import type { Options } from "../base/command.ts";
import type { CommandContext } from "../base/context.ts";
import { createUsageError } from "../base/errors.ts";
import { cleanText } from "../base/output.ts";
import type { PlatformClient } from "../base/session.ts";
import { findService } from "../project/find-service.ts";

/** Options that say which executions are wanted. */
export const FILTER_OPTIONS = {
  kind: {
    kind: "text",
    placeholder: "kind",
    choices: EXECUTION_KIND_NAMES,
    description: "job: started by members; outgoing: by your applications; incoming: of your services",
  },
  status: {
    kind: "text",
    placeholder: "states",
    description: `In one of these states, separated by commas: ${EXECUTION_STATUSES.join(", ")}`,
  },
  service: { kind: "text", placeholder: "service", description: "Of this service: name or key" },
  version: { kind: "text", placeholder: "version", description: "Of versions with this number" },
  application: { kind: "text", placeholder: "id", description: "Started by this application" },
  code: { kind: "text", placeholder: "code", description: "Not successful for this reason, as TIMEOUT" },
  after: {
    kind: "text",
    placeholder: "time",
    description: "Created at YYYY-MM-DD HH:MM:SS (UTC) or later",
  },
  before: { kind: "text", placeholder: "time", description: "Created before YYYY-MM-DD HH:MM:SS (UTC)" },
  minRan: {
    kind: "number",
    placeholder: "seconds",
    minimum: 0,
    maximum: 999_999,
    description: "Have run for so many seconds, or longer",
  },
  search: {
    kind: "text",
    placeholder: "text",
    description: "Whose id begins so, or with this in the name of service or application or in the code",
  },
} as const satisfies Options;

/** The values of FILTER_OPTIONS. */
export interface FilterValues {
  readonly kind: string | undefined;
  readonly status: string | undefined;
  readonly service: string | undefined;
  readonly version: string | undefined;
  readonly application: string | undefined;
  readonly code: string | undefined;
  readonly after: string | undefined;
  readonly before: string | undefined;
  readonly minRan: number | undefined;
  readonly search: string | undefined;
}

/** A filter as the platform API takes it; what is absent decides nothing. */
export interface ExecutionQuery {
  kind?: ExecutionKind;
  status?: ExecutionStatus[];
  serviceKey?: string;
  version?: string;
  applicationId?: string;
  code?: string;
  createdAfter?: string;
  createdBefore?: string;
  minRanMs?: number;
  q?: string;
}

const MILLISECONDS = 1_000;

/** @throws UserError USAGE, SERVICE_NOT_FOUND */
export async function readFilter(
  context: CommandContext,
  client: PlatformClient,
  values: FilterValues,
): Promise<ExecutionQuery> {
  const kind = EXECUTION_KIND_NAMES.find((one) => one === values.kind);
  const { version, application, code, after, before, minRan, search } = values;
  const service = values.service === undefined ? null : await findService(context, client, values.service);
  return {
    ...(kind === undefined ? {} : { kind }),
    ...(values.status === undefined ? {} : { status: values.status.split(",").map(readStatus) }),
    ...(service === null ? {} : { serviceKey: service.key }),
    ...(version === undefined ? {} : { version }),
    ...(application === undefined ? {} : { applicationId: application }),
    ...(code === undefined ? {} : { code }),
    ...(after === undefined ? {} : { createdAfter: after }),
    ...(before === undefined ? {} : { createdBefore: before }),
    ...(minRan === undefined ? {} : { minRanMs: Math.round(minRan * MILLISECONDS) }),
    ...(search === undefined ? {} : { q: search }),
  };
}

function readStatus(text: string): ExecutionStatus {
  const status = text.trim().toUpperCase();
  if (isExecutionStatus(status)) return status;
  throw createUsageError(
    `'${cleanText(text)}' is not a state; use ${EXECUTION_STATUSES.join(", ")}, separated by commas.`,
  );
}
