import { createHash } from "node:crypto";
import { Problem } from "@platform/contract/problems";
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
          throw new Error(
            `The secret ${one.name} was stored by a platform with another --secret; set it again.`,
          );
        return [one.name, unseal(key, one.sealed, bind(one, one.name))];
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

function found<T>(result: T | null): T {
  if (result === null) throw new Problem("SERVICE_NOT_FOUND");
  return result;
}

/** What a sealed value is bound to: it does not open in another place. */
function bind({ organisationId, serviceKey }: SecretScope, name: string): string {
  return JSON.stringify(["secret", organisationId, serviceKey, name]);
}
