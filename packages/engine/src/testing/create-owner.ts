import { randomUUID } from "node:crypto";
import type { Owner } from "../store/owner.ts";

/** A subscription of some organisation. */
export function createOwner(id: string = randomUUID()): Owner {
  return { kind: "subscription", id, organisationId: randomUUID() };
}
