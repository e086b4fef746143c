import { Problem } from "@platform/contract/problems";
import type { VersionTarget } from "@platform/engine/versions/runnable-version";
import type { Owner } from "@platform/engine/store/owner";
import { createCache } from "@platform/engine/base/cache";
import { SECOND } from "@platform/engine/base/time";
import type { TokenSubject } from "./access-tokens.ts";
import type { TokenVerifier } from "./token-verifier.ts";
import type {
  AccessStore,
  ApplicationAnswer,
  Grant,
  GrantAnswer,
  GrantedVersion,
  Refusal,
} from "../store/access.ts";
import { readBearer, refuseToken } from "./bearer.ts";

/** The three segments of a service's URL that name a version. */
export interface Endpoint {
  readonly serviceKey: string;
  readonly serviceName: string;
  readonly version: string;
}

/** An application that may call this version, since it has a subscription. */
export interface ServiceCaller {
  /** The subscription. */
  readonly owner: Owner;
  readonly serviceName: string;
  readonly applicationId: string;
  /** Starts nothing. */
  readonly isPaused: boolean;
  /** Why the provider has ended the subscription: it starts nothing; null: it has not. */
  readonly endReason: string | null;
  /** Whether it may read logs. */
  readonly areLogsShown: boolean;
  /** Of the plan; null: no limit of its own. */
  readonly startsPerMinute: number | null;
  readonly version: GrantedVersion;
}

/** An application that may read what is its own. */
export interface KnownApplication {
  readonly applicationId: string;
  readonly organisationId: string;
}

/** Checks who may call which version. */
export interface Access {
  /**
   * Checks an Authorization header. Returns the caller without a promise when token and grant are cached, so that polling
   * is cheap.
   *
   * @throws Problem UNAUTHENTICATED, NOT_SUBSCRIBED, SERVICE_NOT_FOUND
   */
  readonly authorize: (
    authorization: string | undefined,
    endpoint: Endpoint,
  ) => ServiceCaller | Promise<ServiceCaller>;
  /** The same for a caller who has authenticated with an access key. @throws Problem as `authorize` */
  readonly authorizeSubject: (subject: TokenSubject, endpoint: Endpoint) => Promise<ServiceCaller>;
  /** Checks an Authorization header of a call that names no service. @throws Problem UNAUTHENTICATED */
  readonly authorizeApplication: (authorization: string | undefined) => Promise<KnownApplication>;
  /** Drops all cached decisions: some may have changed. */
  readonly forgetAll: () => void;
}

/** What the check works with. */
export interface AccessOptions {
  readonly verifier: TokenVerifier;
  readonly store: Pick<AccessStore, "findGrant" | "findApplication">;
  /** Milliseconds since any fixed moment; default: the cache's clock. */
  readonly now?: () => number;
}

/** What may be done with a version: an answer of the store, and the caller that follows from it. */
interface Decision {
  readonly answer: GrantAnswer;
  /** Null: refused, or there is no such version. */
  readonly caller: ServiceCaller | null;
}

/** A revocation takes effect within this time even when its notification is lost. */
const GRANTED_TTL_MS = 5 * SECOND;
const REFUSED_TTL_MS = 1 * SECOND;
const MAX_DECISIONS = 10_000;

/** Decides who may call a service: the token names the application, the store says whether it is granted. */
export function createAccess(options: AccessOptions): Access {
  const decisions = createCache<Decision>({
    ttlMs: ({ answer }) => (answer.granted ? GRANTED_TTL_MS : REFUSED_TTL_MS),
    maxEntries: MAX_DECISIONS,
    ...(options.now === undefined ? {} : { now: options.now }),
  });

  const authorizeSubject = async (subject: TokenSubject, endpoint: Endpoint): Promise<ServiceCaller> => {
    const decision = await decisions.get(keyOf(subject, endpoint), async () =>
      decide(
        subject.applicationId,
        await options.store.findGrant({
          ...subject,
          serviceKey: endpoint.serviceKey,
          version: endpoint.version,
        }),
      ),
    );
    return pickCaller(decision, endpoint);
  };

  const authorizeToken = async (token: string, endpoint: Endpoint): Promise<ServiceCaller> => {
    const subject = await options.verifier.verify(token);
    if (!subject) throw refuseToken();
    return await authorizeSubject(subject, endpoint);
  };

  const applications = createCache<ApplicationAnswer>({
    ttlMs: ({ granted }) => (granted ? GRANTED_TTL_MS : REFUSED_TTL_MS),
    maxEntries: MAX_DECISIONS,
    ...(options.now === undefined ? {} : { now: options.now }),
  });
  const authorizeApplication: Access["authorizeApplication"] = async (authorization) => {
    const subject = await options.verifier.verify(readBearer(authorization));
    if (!subject) throw refuseToken();
    const { applicationId, keyId } = subject;
    const answer = await applications.get(`${applicationId} ${keyId}`, () =>
      options.store.findApplication(subject),
    );
    if (!answer.granted) throw refuseToken();
    return { applicationId, organisationId: answer.organisationId };
  };

  return {
    authorizeApplication,
    authorize: (authorization, endpoint) => {
      const token = readBearer(authorization);
      const subject = options.verifier.peek(token);
      const decision = subject && decisions.peek(keyOf(subject, endpoint));
      return decision ? pickCaller(decision, endpoint) : authorizeToken(token, endpoint);
    },
    authorizeSubject,
    forgetAll: () => {
      decisions.clear();
      applications.clear();
    },
  };
}

function keyOf(subject: TokenSubject, endpoint: Endpoint): string {
  return `${subject.applicationId} ${subject.keyId} ${endpoint.serviceKey} ${endpoint.version}`;
}

function decide(applicationId: string, answer: GrantAnswer): Decision {
  if (!answer.granted) return { answer, caller: null };
  const { version } = answer.grant;
  return { answer, caller: version && createCaller(applicationId, answer.grant, version) };
}

function createCaller(applicationId: string, grant: Grant, version: GrantedVersion): ServiceCaller {
  const { subscriptionId, organisationId, serviceName, isPaused, endReason, areLogsShown, startsPerMinute } =
    grant;
  const owner = { kind: "subscription", id: subscriptionId, organisationId } as const;
  return { owner, applicationId, serviceName, isPaused, endReason, areLogsShown, startsPerMinute, version };
}

/** The version of a caller, to start executions of. @throws Problem VERSION_RETIRED, NOT_SUBSCRIBED, SUBSCRIPTION_ENDED */
export function toTarget({ serviceName, isPaused, endReason, version }: ServiceCaller): VersionTarget {
  if (endReason !== null) {
    throw new Problem(
      "SUBSCRIPTION_ENDED",
      `The provider of ${serviceName} has ended the subscription: ${endReason}`,
    );
  }
  if (isPaused) {
    throw new Problem(
      "NOT_SUBSCRIBED",
      `The subscription to ${serviceName} is paused. Resume it to start executions.`,
    );
  }
  if (version.isRetired) {
    throw new Problem(
      "VERSION_RETIRED",
      `Version ${version.version} of ${serviceName} takes no new executions.`,
    );
  }
  return version;
}

/** @throws Problem FORBIDDEN where the provider keeps logs to itself */
export function requireLogs({ areLogsShown, serviceName }: ServiceCaller): void {
  if (areLogsShown) return;
  throw new Problem(
    "FORBIDDEN",
    `The provider of ${serviceName} does not show logs to subscribers. Ask the provider about this execution.`,
  );
}

function pickCaller({ answer, caller }: Decision, endpoint: Endpoint): ServiceCaller {
  if (!answer.granted) throw toProblem(answer.reason);
  if (!caller || answer.grant.serviceName !== endpoint.serviceName) throw new Problem("SERVICE_NOT_FOUND");
  return caller;
}

function toProblem(reason: Refusal): Problem {
  switch (reason) {
    case "SERVICE_NOT_FOUND":
      return new Problem("SERVICE_NOT_FOUND");
    case "NOT_SUBSCRIBED":
      return new Problem("NOT_SUBSCRIBED");
    case "APPLICATION_DELETED":
    case "KEY_REVOKED":
      return refuseToken();
    default:
      return reason satisfies never;
  }
}
