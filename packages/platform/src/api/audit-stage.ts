import type { FastifyRequest } from "fastify";
import type { Operation } from "@platform/contract/operation";
import { Problem } from "@platform/contract/problems";
import type { ProblemCode } from "@platform/contract/problems";
import { createCache } from "@platform/engine/base/cache";
import { MINUTE } from "@platform/engine/base/time";
import { isUuid } from "@platform/engine/base/uuid";
import type { AuditStage, AuditedCall } from "@platform/engine/http/types";
import type { AuditLog } from "../store/audit/log.ts";
import { completeEntry, openTrail } from "../store/audit/trail.ts";
import type { NewAuditEntry } from "../store/audit/trail.ts";
import type { PlatformCaller } from "./caller.ts";
import { readClientAddress } from "../base/client-address.ts";

/** Refusals that are written down: somebody tried what they may not. */
const NOTED: ReadonlySet<ProblemCode> = new Set(["FORBIDDEN", "INVALID_CREDENTIALS"]);
/** The same refusal of the same user is written once in this time, so that nobody fills a log by trying. */
const QUIET_MS = MINUTE;
const MAX_QUIET = 10_000;

/** The stage of the pipeline, and what is written beside it. */
export interface PlatformAuditStage extends AuditStage<PlatformCaller | null> {
  /** A request that would change something had the cookie of this session, and no proof that the console sent it. */
  readonly noteForgery: (
    session: { readonly userId: string; readonly sessionId: string },
    ip: string,
  ) => Promise<void>;
  /** Runs what is no operation and checks a password; a refusal is written as one of this action. */
  readonly watch: <T>(
    attempt: { readonly action: string; readonly ip: string },
    check: () => Promise<T>,
  ) => Promise<T>;
  /** Jobs were started: the first one a minute of the same user and service is written, since each is listed itself. */
  readonly noteStart: (caller: PlatformCaller, request: FastifyRequest, serviceKey: string) => Promise<void>;
}

/** Writes the entries of the platform API. */
export function createAuditStage(log: Pick<AuditLog, "append">): PlatformAuditStage {
  const quiet = createCache<true>({ ttlMs: QUIET_MS, maxEntries: MAX_QUIET });
  const noteRefusal = async (entry: NewAuditEntry, error: unknown): Promise<void> => {
    if (!(error instanceof Problem) || !isNoted(entry, error) || entry.actorId === null) return;
    const isKnown = error.code !== "INVALID_CREDENTIALS";
    // Tries to sign in are counted and slowed down elsewhere.
    if (isKnown && isRepeated(quiet, `${entry.organisationId} ${entry.actorId} ${entry.action}`)) return;
    await log.append({
      ...entry,
      actorKind: isKnown ? entry.actorKind : "claimed",
      target: entry.target.filter(isUuid),
      outcome: "refused",
      code: error.code,
      changes: [],
    });
  };
  return {
    record: async (call, handle) => {
      const trail = openTrail(describeCall(call));
      try {
        const answer = await trail.run(handle);
        const left = trail.pending();
        if (left !== null) await appendLate(log, completeEntry(left, answer.body));
        return answer;
      } catch (error) {
        const left = trail.pending();
        if (left !== null) await noteRefusal(left, error);
        throw error;
      }
    },
    refuse: (call, error) => noteRefusal(describeCall(call), error),
    watch: async (attempt, check) => {
      const trail = openTrail({ ...NOTHING_KNOWN, ...attempt });
      try {
        return await trail.run(check);
      } catch (error) {
        const left = trail.pending();
        if (left !== null) await noteRefusal(left, error);
        throw error;
      }
    },
    ...createNotes(log, quiet),
  };
}

/** What is written of requests that are no row's change. */
function createNotes(
  log: Pick<AuditLog, "append">,
  quiet: ReturnType<typeof createCache<true>>,
): Pick<PlatformAuditStage, "noteForgery" | "noteStart"> {
  return {
    noteForgery: async ({ userId, sessionId }, ip) => {
      const action = "session.forge";
      if (isRepeated(quiet, `${userId} ${action}`)) return;
      await log.append({
        ...NOTHING_KNOWN,
        actorKind: "claimed",
        actorId: userId,
        credential: `session:${sessionId}`,
        action,
        outcome: "refused",
        code: "FORBIDDEN",
        ip,
      });
    },
    noteStart: async (caller, request, serviceKey) => {
      const { organisationId, userId } = caller;
      const action = "job.start";
      if (isRepeated(quiet, `${organisationId} ${userId} ${action} ${serviceKey}`)) return;
      await appendLate(log, {
        ...NOTHING_KNOWN,
        organisationId,
        actorId: userId,
        credential: nameCredential(caller),
        action,
        target: [serviceKey].filter(isUuid),
        ip: readClientAddress(request),
      });
    },
  };
}

const NOTHING_KNOWN: NewAuditEntry = {
  organisationId: null,
  actorKind: "user",
  actorId: null,
  credential: null,
  action: "",
  target: [],
  outcome: "done",
  code: null,
  ip: "",
  changes: [],
};

/** The handler refuses a new password only where the current one is wrong; what has another form never comes there. */
function isNoted({ action }: NewAuditEntry, { code }: Problem): boolean {
  return NOTED.has(code) || (action === "password.change" && code === "INVALID_INPUT");
}

function isRepeated(quiet: ReturnType<typeof createCache<true>>, key: string): boolean {
  if (quiet.peek(key) !== undefined) return true;
  quiet.set(key, true);
  return false;
}

/** The change is committed already: an answer such as 503 would say that nothing has happened. */
async function appendLate(log: Pick<AuditLog, "append">, entry: NewAuditEntry): Promise<void> {
  try {
    await log.append(entry);
  } catch (error) {
    throw new Error(`${entry.action} was done, but could not be written in the audit log.`, { cause: error });
  }
}

function describeCall({ operation, caller, request }: AuditedCall<PlatformCaller | null>): NewAuditEntry {
  return {
    organisationId: operation.scope === "organisation" ? (caller?.organisationId ?? null) : null,
    actorKind: operation.allows === "operator" && caller?.actor.isOperator === true ? "operator" : "user",
    actorId: caller?.userId ?? null,
    credential: caller === null ? null : nameCredential(caller),
    action: operation.audit ?? "",
    target: listTargetIds(operation, request.params),
    outcome: "done",
    code: null,
    ip: readClientAddress(request),
    changes: [],
  };
}

function nameCredential({ credential }: PlatformCaller): string {
  switch (credential.kind) {
    case "token":
      return `token:${credential.tokenId}`;
    case "session":
      return `session:${credential.sessionId}`;
    case "execution":
      return `execution:${credential.executionId}`;
    default:
      return credential satisfies never;
  }
}

/** Parameters that are no secret though they are no UUID: a parameter may also be the token of a link. */
const OPEN_NAMES: ReadonlySet<string> = new Set(["version", "keyId", "planId", "backendId"]);

/** In the order of the path. */
function listTargetIds({ path }: Operation, params: unknown): readonly string[] {
  const values = new Map<string, unknown>(
    typeof params === "object" && params !== null ? Object.entries(params) : [],
  );
  const names = [...path.matchAll(/\{(\w+)\}/gu)].map(([, name = ""]) => name);
  return names.flatMap((name) => {
    const value = values.get(name);
    return typeof value === "string" && (OPEN_NAMES.has(name) || isUuid(value)) ? [value] : [];
  });
}
