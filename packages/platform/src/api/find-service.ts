import { Problem } from "@platform/contract/problems";
import type { ServiceRecord, ServiceStore } from "../store/services.ts";
import type { PlatformCaller } from "./caller.ts";

/** The service of the caller's organisation. @throws Problem SERVICE_NOT_FOUND, also for one of another organisation */
export async function findService(
  services: ServiceStore,
  caller: PlatformCaller,
  key: string,
): Promise<ServiceRecord> {
  const service = await services.findByKey(caller.organisationId, key);
  if (!service) throw new Problem("SERVICE_NOT_FOUND");
  return service;
}
