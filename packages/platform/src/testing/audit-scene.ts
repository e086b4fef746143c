import type { AuditEvent } from "@platform/contract/platform-api/audit";
import type { Operation } from "@platform/contract/operation";
import { PROOF } from "./browser.ts";
import type { TestUser } from "./fixtures.ts";
import type { TestInstance } from "./instance.ts";
import { callOperation, ownParams } from "./operation-calls.ts";
import type { Property } from "./operation-calls.ts";

/** Reads and fills the audit logs of an instance. */
export function createAuditScene(instance: TestInstance) {
  return {
    /** The log of the organisation of `of`, newest first, as `reader` gets it. */
    listEvents: async (reader: TestUser, of = reader, query = ""): Promise<readonly AuditEvent[]> => {
      const response = await instance.api.inject({
        url: `/api/audit-events?limit=100&${query}`,
        headers: { authorization: `Bearer ${reader.token}`, "x-organizationid": of.organisationId },
      });
      if (response.statusCode !== 200) throw new Error(`The audit log cannot be read: ${response.body}`);
      return response.json<{ items: AuditEvent[] }>().items;
    },
    /** Calls an operation in the organisation of the property, on what it owns. */
    callAs: (user: TestUser, property: Property, id: string, operation: Operation) =>
      callOperation(instance, {
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
}
