import { isRecord } from "@platform/engine/base/json";
import type { PlainSchema } from "./plain-schema.ts";

/** Makes the generator write members in the order of the schema: without the keyword of its own it sorts them by name. */
export function keepOrder(schema: PlainSchema): PlainSchema {
  const kept = Object.entries(schema).map(([keyword, value]) => [keyword, keepWithin(keyword, value)]);
  const { properties } = schema;
  const order = isRecord(properties) ? { quicktypePropertyOrder: Object.keys(properties) } : {};
  return { ...Object.fromEntries(kept), ...order };
}

/** The value of a keyword: its schemas in their order, anything else as it is. */
function keepWithin(keyword: string, value: unknown): unknown {
  switch (keyword) {
    case "properties":
    case "$defs":
      return isRecord(value)
        ? Object.fromEntries(Object.entries(value).map(([name, member]) => [name, keepMember(member)]))
        : value;
    case "anyOf":
      return Array.isArray(value) ? value.map(keepMember) : value;
    case "items":
    case "additionalProperties":
      return keepMember(value);
    default:
      return value;
  }
}

function keepMember(value: unknown): unknown {
  return isRecord(value) ? keepOrder(value) : value;
}
