import { Problem } from "@platform/contract/problems";
import { explainVariableName } from "@platform/contract/variable-names";
import { ProjectError } from "@platform/engine/project/project-error";
import type {
  StoredValue,
  StoredVariable,
  VariableKind,
  VariableRecord,
  VariableScope,
  VariableStore,
} from "../store/variables.ts";
import { createSecretRing, UnknownKeyError } from "./key-ring.ts";
import type { KeyRing, PlatformSecret } from "./key-ring.ts";

/** Variables as runs get them. */
export interface RunVariables {
  readonly values: Readonly<Record<string, string>>;
  /** Those of the values that are secret. */
  readonly secrets: readonly string[];
}

/** Variables of services and organisations; secrets are sealed where they are stored. */
export interface Variables {
  /** @throws Problem SERVICE_NOT_FOUND */
  readonly list: (
    scope: VariableScope,
    kind: VariableKind,
    page: { readonly limit: number; readonly offset: number },
  ) => Promise<readonly VariableRecord[]>;
  /** `by`: id of the user. @throws Problem INVALID_INPUT (name), SERVICE_NOT_FOUND, QUOTA_EXCEEDED, CONFLICT (name of the other kind) */
  readonly put: (scope: VariableScope, variable: GivenVariable) => Promise<VariableRecord>;
  /** @throws Problem NOT_FOUND, SERVICE_NOT_FOUND */
  readonly delete: (scope: VariableScope, variable: Omit<GivenVariable, "value">) => Promise<void>;
  /** What runs of a version get. @throws Error where a secret was sealed with another secret of the platform */
  readonly readOfVersion: (versionId: string) => Promise<RunVariables>;
  readonly readOfService: (serviceKey: string) => Promise<RunVariables>;
}

interface GivenVariable {
  readonly kind: VariableKind;
  readonly name: string;
  readonly value: string;
  /** Id of the user. */
  readonly by: string;
}

/** Characters without those around them that are blank: what is shorter is not taken out of logs (python/redaction.ts). */
const LEAST_LINE = 8;
const SHORT = `At least one of its lines must have ${LEAST_LINE} characters, without blanks around them: what is shorter could not be removed from logs.`;

/** `secret`: the platform's. */
export function createVariables(
  store: Omit<VariableStore, "listSealedOtherwise" | "reseal" | "subscribe">,
  secret: PlatformSecret,
): Variables {
  const ring = createSecretRing(secret);
  return {
    list: async (scope, kind, page) => found(await store.list(scope, kind, page)),
    put: async (scope, { kind, name, value, by }) => {
      checkName(kind, name);
      if (kind === "secret") checkSecret(value);
      const stored: StoredValue =
        kind === "variable"
          ? { kind, value }
          : { kind, sealed: ring.seal(value, bindSecret({ ...scope, name })), keyId: ring.keyId };
      const record = found(await store.put(scope, name, { ...stored, by }));
      if (record !== "other kind") return record;
      const other = kind === "secret" ? "variable" : "secret";
      throw new Problem("CONFLICT", `There is a ${other} of this name; delete it first.`);
    },
    delete: async (scope, variable) => {
      if (!found(await store.delete(scope, variable)))
        throw new Problem("NOT_FOUND", `There is no such ${variable.kind}.`);
    },
    readOfVersion: async (versionId) => openAll(ring, await store.readOfVersion(versionId)),
    readOfService: async (serviceKey) => openAll(ring, await store.readOfService(serviceKey)),
  };
}

/** What a sealed value is bound to: it does not open in another place. */
export function bindSecret(place: VariableScope & { readonly name: string }): string {
  return JSON.stringify(["secret", place.organisationId, place.serviceKey, place.name]);
}

/** The organisation's first: a service's of the same name takes their place, and is a secret or none by itself. */
function openAll(ring: KeyRing, stored: readonly StoredVariable[]): RunVariables {
  const ordered = stored.toSorted((a, b) => Number(a.serviceKey !== null) - Number(b.serviceKey !== null));
  const used = [...new Map(ordered.map((one) => [one.name, one])).values()];
  const opened = used.map((one) => ({ ...one, text: open(ring, one) }));
  return {
    values: Object.fromEntries(opened.map(({ name, text }) => [name, text])),
    secrets: opened.filter(({ kind }) => kind === "secret").map(({ text }) => text),
  };
}

function open(ring: KeyRing, stored: StoredVariable): string {
  if (stored.kind === "variable") return stored.value;
  try {
    return ring.open(stored.sealed, bindSecret(stored), stored.keyId);
  } catch (error) {
    const why =
      error instanceof UnknownKeyError
        ? "was stored by a platform with another --secret"
        : "does not open where it is stored";
    throw createUnsealable(stored.name, why, error);
  }
}

function checkName(kind: VariableKind, name: string): void {
  const fault = explainVariableName(name);
  if (fault === null) return;
  throw new Problem("INVALID_INPUT", `The name of the ${kind} is invalid. ${fault}`, {
    errors: [{ path: "/name", message: fault }],
  });
}

function checkSecret(value: string): void {
  if (value.split(/[\r\n]+/u).some((line) => line.trim().length >= LEAST_LINE)) return;
  throw new Problem("INVALID_INPUT", `The value of the secret is invalid. ${SHORT}`, {
    errors: [{ path: "/value", message: SHORT }],
  });
}

/** Its cause says that this concerns one service and not the worker, which would rest after three of them (prepare-claim.ts). */
function createUnsealable(name: string, why: string, cause: unknown): Error {
  const text = `The secret ${name} ${why}; set it again.`;
  return new Error(text, { cause: new ProjectError("INVALID_PROJECT", text, { cause }) });
}

function found<T>(result: T | null): T {
  if (result === null) throw new Problem("SERVICE_NOT_FOUND");
  return result;
}
