/** What each role of an organisation may do; a role holds all that stands in its row. */
const ROLE_ACTIONS = {
  viewer: ["read"],
  maintainer: ["read", "write"],
  owner: ["read", "write", "delete"],
} as const satisfies Record<string, readonly string[]>;

export type Role = keyof typeof ROLE_ACTIONS;

/** `read` looks, `write` creates and edits, `delete` takes away for good. */
export type Action = (typeof ROLE_ACTIONS)["owner"][number];

export function isRole(value: string): value is Role {
  return Object.hasOwn(ROLE_ACTIONS, value);
}

export function can(role: Role, action: Action): boolean {
  const actions: readonly Action[] = ROLE_ACTIONS[role];
  return actions.includes(action);
}
