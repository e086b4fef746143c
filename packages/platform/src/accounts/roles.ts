import type { Action } from "@platform/contract/operation";

/** What each role of an organisation may do. */
const ROLE_ACTIONS = {
  viewer: ["read"],
  maintainer: ["read", "write"],
  owner: ["read", "write", "delete"],
} as const satisfies Record<string, readonly Action[]>;

/** The role of a user in an organisation. */
export type Role = keyof typeof ROLE_ACTIONS;

/** Whether a text names a role. */
export function isRole(value: string): value is Role {
  return Object.hasOwn(ROLE_ACTIONS, value);
}

/** Whether a role allows an action. */
export function can(role: Role, action: Action): boolean {
  const actions: readonly Action[] = ROLE_ACTIONS[role];
  return actions.includes(action);
}
