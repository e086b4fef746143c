import { Type } from "typebox";
import type { Static } from "typebox";
import { START_WITHIN_SECONDS } from "./execution.ts";
import { TIMEOUT_SECONDS } from "./project.ts";
import { RetryPolicySchema } from "./retries.ts";
import { StringEnum } from "./schemas.ts";

/** Classes of executions, the last first: what waits is started by class. */
export const PRIORITIES = ["low", "normal", "high"] as const;
/** See `PRIORITIES`. */
export type Priority = (typeof PRIORITIES)[number];

/** For how long an execution waits behind others of a higher class before it gets that class. */
export const CLASS_WAIT_MINUTES = 10;

/** What a limit of executions at one time may be. */
export const CONCURRENCY = { minimum: 1, maximum: 10_000 } as const;

/** How executions of a service are run: settings, which hold for what is started from then on, and no part of a version. */
export const ServicePolicySchema = Type.Object(
  {
    timeoutSeconds: Type.Optional(
      Type.Integer({
        ...TIMEOUT_SECONDS,
        description: "Wall-clock limit of one execution in seconds, in place of the one of its version",
      }),
    ),
    concurrency: Type.Optional(
      Type.Object(
        {
          service: Type.Optional(
            Type.Integer({ ...CONCURRENCY, description: "Executions of the service at one time" }),
          ),
          subscription: Type.Optional(
            Type.Integer({
              ...CONCURRENCY,
              description: "Executions of one subscription at one time; for jobs, of one organisation",
            }),
          ),
        },
        {
          additionalProperties: false,
          title: "Concurrency",
          description:
            "How many executions may run at one time; the others wait for a place. What is absent is not limited",
        },
      ),
    ),
    priority: Type.Optional(
      StringEnum(PRIORITIES, {
        title: "Priority",
        description: `Default normal. low: started when nothing normal waits, or after ${CLASS_WAIT_MINUTES} minutes as normal. high: started before normal ones, only for organisations that the operator allows`,
      }),
    ),
    retries: Type.Optional(RetryPolicySchema),
    startWithinSeconds: Type.Optional(
      Type.Integer({
        ...START_WITHIN_SECONDS,
        description: "`startWithin` of starts that name none; absent: they wait for as long as it takes",
      }),
    ),
  },
  {
    additionalProperties: false,
    title: "ServicePolicy",
    description: "How executions of a service are run; what is absent is as the platform and the version say",
  },
);

/** How executions of a service are run. */
export type ServicePolicy = Static<typeof ServicePolicySchema>;

/** What of a service decides about starts of its versions. */
export interface TargetService {
  readonly key: string;
  /** Of the provider. */
  readonly organisationId: string;
  /** As of now: it counts for what is started. */
  readonly policy: ServicePolicy;
}
