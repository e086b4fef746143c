/** SQL: a `TargetService`; alias of a row of `service`. */
export function describeTargetService(service: string): string {
  return `json_build_object('key', ${service}.key, 'organisationId', ${service}.organisation_id, 'policy', coalesce(
      (select p.policy from service_policy p where p.service_key = ${service}.key order by p.revision desc limit 1), '{}'))`;
}
