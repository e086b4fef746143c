import type { Action } from "@platform/contract/operation";

/** What each role of an organisation may do; a role holds all that stands in its row. */
const ROLE_ACTIONS = {
  viewer: ["read"],
  maintainer: ["read", "write"],
  owner: ["read", "write", "delete"],
} as const satisfies Record<string, readonly Action[]>;

export type Role = keyof typeof ROLE_ACTIONS;

export function isRole(value: string): value is Role {
  return Object.hasOwn(ROLE_ACTIONS, value);
}

export function can(role: Role, action: Action): boolean {
  const actions: readonly Action[] = ROLE_ACTIONS[role];
  return actions.includes(action);
}
