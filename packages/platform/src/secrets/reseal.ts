import type { SigningKeyRecord, SigningKeyStore } from "../store/signing-keys.ts";
import type { SealedSecret, VariableStore } from "../store/variables.ts";
import type { SealedOtherwise, WebhookStore } from "../store/webhooks/webhooks.ts";
import { createSecretRing, createSigningKeyRing, createWebhookRing } from "./key-ring.ts";
import type { KeyRing, PlatformSecret } from "./key-ring.ts";
import { bindSecret } from "./variables.ts";

/** What is sealed where it is stored. */
export interface SealedStores {
  readonly variables: Pick<VariableStore, "listSealedOtherwise" | "reseal">;
  readonly signingKeys: Pick<SigningKeyStore, "list" | "reseal">;
  readonly webhooks: Pick<WebhookStore, "listSealedOtherwise" | "reseal">;
}

/** What `resealAll` did. */
export interface ResealReport {
  /** Secrets of services and webhooks, and signing keys, that were sealed anew. */
  readonly resealed: number;
  /** What no key opens, as texts for the operator: it is left as it is. */
  readonly unopened: readonly string[];
}

/** What one pass over all of a kind did. */
interface Pass extends ResealReport {
  /** How many could be opened: those that were sealed anew, and those that were changed before they could be. */
  readonly opened: number;
}

const PAGE = 100;

/**
 * Seals secrets and signing keys with the platform's current secret that are sealed with one of its others. Each is one statement, which
 * changes nothing that was set meanwhile: it may run at any time, beside itself, and again after it was killed.
 */
export async function resealAll(stores: SealedStores, secret: PlatformSecret): Promise<ResealReport> {
  let resealed = 0;
  for (;;) {
    const passes = [
      await resealSigningKeys(stores.signingKeys, createSigningKeyRing(secret)),
      await resealWebhooks(stores.webhooks, createWebhookRing(secret)),
      await resealSecrets(stores.variables, createSecretRing(secret)),
    ];
    for (const pass of passes) resealed += pass.resealed;
    // Once more: what was changed meanwhile, and what processes that were not started anew yet have sealed with the other key.
    if (passes.every(({ opened }) => opened === 0))
      return { resealed, unopened: passes.flatMap(({ unopened }) => unopened) };
  }
}

async function resealSecrets(store: SealedStores["variables"], ring: KeyRing): Promise<Pass> {
  const unopened: string[] = [];
  let [opened, resealed] = [0, 0];
  let after: SealedSecret | null = null;
  for (;;) {
    const page: readonly SealedSecret[] = await store.listSealedOtherwise(ring.keyId, { after, limit: PAGE });
    for (const secret of page) {
      const anew = tryReseal(ring, secret.sealed, bindSecret(secret), secret.keyId);
      if (anew === "unopened") unopened.push(describeSecret(secret));
      if (anew === "unopened" || anew === null) continue;
      opened += 1;
      if (await store.reseal(secret, anew)) resealed += 1;
    }
    after = page.at(-1) ?? null;
    if (page.length < PAGE) return { resealed, opened, unopened };
  }
}

/** Retired ones are left: they sign and verify nothing. */
async function resealSigningKeys(store: SealedStores["signingKeys"], ring: KeyRing): Promise<Pass> {
  const unopened: string[] = [];
  let opened = 0;
  for (const key of await store.list()) {
    const anew = tryReseal(ring, key.privateJwkEncrypted, key.kid, null);
    if (anew === "unopened") unopened.push(describeSigningKey(key));
    else if (anew !== null) {
      await store.reseal(key, anew.sealed);
      opened += 1;
    }
  }
  return { resealed: opened, opened, unopened };
}

async function resealWebhooks(store: SealedStores["webhooks"], ring: KeyRing): Promise<Pass> {
  const unopened: string[] = [];
  let [opened, resealed] = [0, 0];
  let after: string | null = null;
  for (;;) {
    const page: readonly SealedOtherwise[] = await store.listSealedOtherwise(ring.keyId, after, PAGE);
    for (const secret of page) {
      const anew = tryReseal(ring, secret.sealed, secret.id, secret.keyId);
      if (anew === "unopened") unopened.push(`the secret of the webhook ${secret.id}`);
      if (anew === "unopened" || anew === null) continue;
      opened += 1;
      if (await store.reseal(secret, anew)) resealed += 1;
    }
    if (page.length < PAGE) return { resealed, opened, unopened };
    // Both secrets of a webhook may be on two pages: those that were sealed anew are not listed again.
    after = page.at(-2)?.id ?? null;
  }
}

/** As `KeyRing.reseal`. */
function tryReseal(ring: KeyRing, sealed: string, context: string, keyId: string | null) {
  try {
    return ring.reseal(sealed, context, keyId);
  } catch {
    return "unopened";
  }
}

function describeSecret({ organisationId, serviceKey, name }: SealedSecret): string {
  return `the secret ${name} of ${serviceKey === null ? "" : `the service ${serviceKey} in `}the organisation ${organisationId}`;
}

function describeSigningKey({ kid }: SigningKeyRecord): string {
  return `the signing key ${kid}`;
}
