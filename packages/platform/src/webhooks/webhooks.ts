import { Problem } from "@platform/contract/problems";
import { parseWebhookUrl } from "@platform/contract/webhook-url";
import type { WebhookEvent } from "@platform/contract/platform-api/webhooks";
import type { StartWebhooks } from "@platform/engine/executions/start-webhooks";
import { createWebhookRing } from "../secrets/key-ring.ts";
import type { KeyRing, PlatformSecret } from "../secrets/key-ring.ts";
import { FINAL_EVENTS, createWebhookId } from "../store/webhooks/webhooks.ts";
import type {
  SealedWebhookSecret,
  WebhookChange,
  WebhookKey,
  WebhookRecord,
  WebhookScope,
  WebhookStore,
} from "../store/webhooks/webhooks.ts";
import { createWebhookSecret } from "@platform/engine/webhooks/sign";

/** A webhook with a secret that is shown once. */
interface ShownWebhook {
  readonly webhook: WebhookRecord;
  readonly secret: string;
}

/** Webhooks whose secrets are sealed where they are stored. Null as in the store. */
export interface Webhooks {
  /** @throws Problem INVALID_INPUT for a URL that cannot be called, QUOTA_EXCEEDED; CONFLICT for a second one of starts */
  readonly create: (scope: WebhookScope, wanted: WantedWebhook) => Promise<ShownWebhook | null>;
  /** @throws Problem INVALID_INPUT */
  readonly change: (key: WebhookKey, change: WebhookChange) => Promise<WebhookRecord | null>;
  readonly rotate: (key: WebhookKey, hours: number) => Promise<ShownWebhook | null>;
  /** @throws Error where it was sealed with another secret of the platform */
  readonly openSecret: (webhookId: string, secret: SealedWebhookSecret) => string;
}

interface WantedWebhook {
  /** Missing: the URLs that starts name. */
  readonly url?: string;
  readonly events?: readonly WebhookEvent[];
  /** Id of the user. */
  readonly createdBy: string;
}

/** Owners that are remembered to have a webhook of starts. */
const MOST_KNOWN = 10_000;

/** `secret`: the platform's. */
export function createWebhooks(
  store: Pick<WebhookStore, "create" | "change" | "rotate">,
  secret: PlatformSecret,
): Webhooks {
  const ring = createWebhookRing(secret);
  return {
    create: async (scope, { url, events = FINAL_EVENTS, createdBy }) => {
      const id = createWebhookId();
      const made = makeSecret(ring, id);
      const given = { id, url: url === undefined ? null : checkUrl(url), events, createdBy };
      return show(await store.create(scope, { ...given, ...made.stored }), made.secret);
    },
    change: async (key, change) =>
      await store.change(key, change.url === undefined ? change : { ...change, url: checkUrl(change.url) }),
    rotate: async (key, hours) => {
      const made = makeSecret(ring, key.webhookId);
      return show(await store.rotate(key, made.stored, hours), made.secret);
    },
    openSecret: (webhookId, { sealed, keyId }) => ring.open(sealed, webhookId, keyId),
  };
}

function makeSecret(ring: KeyRing, webhookId: string) {
  const secret = createWebhookSecret();
  return { secret, stored: { sealed: ring.seal(secret, webhookId), keyId: ring.keyId } };
}

function show(webhook: WebhookRecord | null, secret: string): ShownWebhook | null {
  return webhook === null ? null : { webhook, secret };
}

/** The webhooks of starts, made by the first start of an application or of jobs that needs one. */
export function createStartWebhooks(
  store: Pick<WebhookStore, "ensureOfStarts">,
  secret: PlatformSecret,
): StartWebhooks {
  const ring = createWebhookRing(secret);
  // They stay as long as their owners: those of executions that can be started have them.
  const known = new Set<string>();
  return {
    prepare: async (owner) => {
      if (known.has(owner.id)) return;
      const hasOne = await store.ensureOfStarts(owner, () => {
        const id = createWebhookId();
        return { id, ...makeSecret(ring, id).stored };
      });
      if (known.size >= MOST_KNOWN) known.clear();
      if (hasOne) known.add(owner.id);
    },
  };
}

/** As it is called. */
function checkUrl(text: string): string {
  const url = parseWebhookUrl(text);
  if (url !== null) return url.href;
  throw new Problem(
    "INVALID_INPUT",
    "The URL must be one of https or http, without user, password or fragment.",
    {
      errors: [
        { path: "/url", message: "must be a URL of https or http, without user, password or fragment" },
      ],
    },
  );
}
