import { createHash } from "node:crypto";
import { Problem } from "@platform/contract/problems";
import { ProjectError } from "@platform/engine/project/project-error";
import type { SealedSecret, SecretRecord, SecretScope, SecretStore } from "../store/secrets.ts";
import { explainSecretName } from "./names.ts";
import { deriveKey, seal, unseal } from "./seal.ts";

/** Names and values of secrets, as runs get them. */
type SecretValues = Readonly<Record<string, string>>;

/** Secrets of services and organisations, sealed where they are stored. */
export interface Secrets {
  /** @throws Problem SERVICE_NOT_FOUND */
  readonly list: (
    scope: SecretScope,
    page: { readonly limit: number; readonly offset: number },
  ) => Promise<readonly SecretRecord[]>;
  /** `by`: id of the user. @throws Problem INVALID_INPUT (name), SERVICE_NOT_FOUND, CONFLICT (too many) */
  readonly put: (
    scope: SecretScope,
    secret: { readonly name: string; readonly value: string; readonly by: string },
  ) => Promise<SecretRecord>;
  /** @throws Problem NOT_FOUND, SERVICE_NOT_FOUND */
  readonly delete: (scope: SecretScope, name: string, by: string) => Promise<void>;
  /** What runs of a version get. @throws Error where a value was sealed with another secret of the platform */
  readonly readOfVersion: (versionId: string) => Promise<SecretValues>;
  readonly readOfService: (serviceKey: string) => Promise<SecretValues>;
}

/** All of one scope go to a process at once: 50 times 8 KB. */
const MAX_SECRETS = 50;

/** Characters without those around them that are blank: what is shorter is not taken out of logs (python/redaction.ts). */
const LEAST_LINE = 8;
const SHORT = `At least one of its lines must have ${LEAST_LINE} characters, without blanks around them: what is shorter could not be removed from logs.`;

/** `secret`: the platform's. */
export function createSecrets(store: SecretStore, secret: string): Secrets {
  const key = deriveKey(secret, "service-secrets");
  const keyId = createHash("sha256").update(key).digest("hex").slice(0, 16);
  const open = (sealed: readonly SealedSecret[]): SecretValues => {
    // The organisation's first: a service's of the same name takes their place.
    const ordered = sealed.toSorted((a, b) => Number(a.serviceKey !== null) - Number(b.serviceKey !== null));
    return Object.fromEntries(
      ordered.map((one) => {
        if (one.keyId !== keyId)
          throw createUnsealable(one.name, "was stored by a platform with another --secret", undefined);
        try {
          return [one.name, unseal(key, one.sealed, bind(one, one.name))];
        } catch (error) {
          throw createUnsealable(one.name, "does not open where it is stored", error);
        }
      }),
    );
  };
  return {
    list: async (scope, page) => found(await store.list(scope, page)),
    put: async (scope, { name, value, by }) => {
      const fault = explainSecretName(name);
      if (fault !== null)
        throw new Problem("INVALID_INPUT", `The name of the secret is invalid. ${fault}`, {
          errors: [{ path: "/name", message: fault }],
        });
      if (!value.split(/[\r\n]+/u).some((line) => line.trim().length >= LEAST_LINE))
        throw new Problem("INVALID_INPUT", `The value of the secret is invalid. ${SHORT}`, {
          errors: [{ path: "/value", message: SHORT }],
        });
      const sealed = { sealed: seal(key, value, bind(scope, name)), keyId, changedBy: by };
      const record = found(await store.put(scope, name, { ...sealed, limit: MAX_SECRETS }));
      if (record !== "too many") return record;
      throw new Problem("CONFLICT", `There are ${MAX_SECRETS} secrets already; delete one first.`);
    },
    delete: async (scope, name, by) => {
      if (!found(await store.delete(scope, name, by)))
        throw new Problem("NOT_FOUND", "There is no such secret.");
    },
    readOfVersion: async (versionId) => open(await store.readOfVersion(versionId)),
    readOfService: async (serviceKey) => open(await store.readOfService(serviceKey)),
  };
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

/** What a sealed value is bound to: it does not open in another place. */
function bind({ organisationId, serviceKey }: SecretScope, name: string): string {
  return JSON.stringify(["secret", organisationId, serviceKey, name]);
}
