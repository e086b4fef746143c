import type { Database } from "../postgres/database.ts";
import { createAccessKeyStore } from "./access-keys.ts";
import { createAccessStore } from "./access.ts";
import { createApplicationStore } from "./applications.ts";
import type { BuildQuota } from "./builds/build-quota.ts";
import { createBuildStore } from "./builds/builds.ts";
import { createServiceStore } from "./services.ts";
import { createSigningKeyStore } from "./signing-keys.ts";
import { createSubscriptionStore } from "./subscriptions.ts";
import { createVersionStore } from "./versions/versions.ts";

export type Stores = ReturnType<typeof createStores>;

/** What is asked of the product's tables, one store an aggregate. */
export function createStores(database: Database, quota?: BuildQuota) {
  return {
    services: createServiceStore(database),
    versions: createVersionStore(database),
    builds: createBuildStore(database, quota),
    applications: createApplicationStore(database),
    accessKeys: createAccessKeyStore(database),
    subscriptions: createSubscriptionStore(database),
    signingKeys: createSigningKeyStore(database),
    access: createAccessStore(database),
  };
}
