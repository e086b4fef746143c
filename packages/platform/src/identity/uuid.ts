const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** Whether PostgreSQL's uuid type takes it: anything else in a query is an error there, and would be a 500. */
export function isUuid(value: string): boolean {
  return UUID.test(value);
}
