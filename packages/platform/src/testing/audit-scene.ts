import { afterAll, beforeAll } from "vitest";
import type { AuditEvent } from "@platform/contract/platform-api/audit";
import type { Operation } from "@platform/contract/operation";
import { PROOF } from "./browser.ts";
import type { TestUser } from "./fixtures.ts";
import { createTestInstance } from "./instance.ts";
import type { TestInstance } from "./instance.ts";
import { callOperation, ownParams } from "./operation-calls.ts";
import type { Property } from "./operation-calls.ts";
import { createTestDatabase } from "./test-database.ts";
import type { TestDatabase } from "./test-database.ts";

/** An instance of its own for the tests of a file, whose audit logs can be read and filled. What it has is there in tests only. */
export function useAuditScene() {
  let server: TestDatabase | undefined;
  let instance: TestInstance | undefined;
  beforeAll(async () => {
    server = await createTestDatabase();
    instance = await createTestInstance({ database: server.database });
  });
  afterAll(async () => {
    await instance?.close();
    await server?.close();
  });
  const scene = {
    get server() {
      if (server === undefined) throw new Error("The scene is there in tests only.");
      return server;
    },
    get instance() {
      if (instance === undefined) throw new Error("The scene is there in tests only.");
      return instance;
    },
    /** The log of the organisation of `of`, newest first, as `reader` gets it. */
    listEvents: async (reader: TestUser, of = reader, query = ""): Promise<readonly AuditEvent[]> => {
      const response = await scene.instance.api.inject({
        url: `/api/audit-events?limit=100&${query}`,
        headers: { authorization: `Bearer ${reader.token}`, "x-organizationid": of.organisationId },
      });
      if (response.statusCode !== 200) throw new Error(`The audit log cannot be read: ${response.body}`);
      return response.json<{ items: AuditEvent[] }>().items;
    },
    /** Calls an operation in the organisation of the property, on what it owns. */
    callAs: (user: TestUser, property: Property, id: string, operation: Operation) =>
      callOperation(scene.instance, {
        id,
        operation,
        property,
        params: ownParams(property, operation),
        headers: {
          ...PROOF,
          ...(operation.allows === "public" ? {} : { authorization: `Bearer ${user.token}` }),
          "x-organizationid": property.owner.organisationId,
        },
      }),
  };
  return scene;
}
