import { ACTIONS } from "./actions.ts";
import type { Action } from "./actions.ts";
import type { Operation } from "./operation.ts";

/** What each role of an organisation may do, the least role first. */
export const ROLE_ACTIONS = {
  viewer: ["read"],
  maintainer: ["read", "run", "deploy", "edit"],
  owner: ACTIONS,
} as const satisfies Record<string, readonly Action[]>;
/** The role of a user in an organisation. */
export type Role = keyof typeof ROLE_ACTIONS;

/** What each scope of a personal access token opens, the least first; `quantum` opens nothing of the platform API. */
export const SCOPE_ACTIONS = {
  read: ["read"],
  run: ["read", "run"],
  deploy: ["read", "run", "deploy", "edit"],
  admin: ACTIONS,
  quantum: [],
} as const satisfies Record<string, readonly Action[]>;
/** A scope of a personal access token. */
export type TokenScope = keyof typeof SCOPE_ACTIONS;

/** All roles, the least first. */
export const ROLES = Object.keys(ROLE_ACTIONS) as readonly Role[];
/** All scopes, the least first. */
export const TOKEN_SCOPES = Object.keys(SCOPE_ACTIONS) as readonly TokenScope[];

/** Who calls, in the organisation of the request. */
export interface Actor {
  readonly role: Role;
  /** Of the personal access token; null: a session, which may do all that its user may. */
  readonly scopes: readonly TokenScope[] | null;
  /** Whether the user runs the platform. */
  readonly isOperator: boolean;
}

/** What a row says about who may call it. */
export type Guarded = Pick<Operation, "allows" | "audit">;

/** What a caller must have. */
interface Needs {
  /** Of the role; null: any role will do. */
  readonly role: Action | null;
  /** Of the token; null: no token is needed. */
  readonly token: Action | null;
  readonly isOperator: boolean;
}

/** Whether the actor may call the operation. Whose resources it reaches is decided by its statements. */
export function can(actor: Actor, operation: Guarded): boolean {
  const needs = describeNeeds(operation);
  return hasScope(actor, needs) && hasRole(actor, needs) && (!needs.isOperator || actor.isOperator);
}

/** Why `can` says no: what the actor has, and what is needed; a sentence. */
export function explainRefusal(actor: Actor, organisationName: string, operation: Guarded): string {
  const needs = describeNeeds(operation);
  if (!hasScope(actor, needs))
    return `This personal access token has the scope ${actor.scopes?.join(", ") || "(none)"}; this needs the scope ${listScopes(operation).join(" or ")}.`;
  if (needs.isOperator) return "Only operators of this platform may do this.";
  return `You are ${actor.role} of ${organisationName}; this needs the role ${listRoles(operation).join(" or ")}.`;
}

/** The roles that may call the operation. */
export function listRoles(operation: Guarded): readonly Role[] {
  const needs = describeNeeds(operation);
  return ROLES.filter((role) => hasRole({ role }, needs));
}

/** The scopes that a token needs one of to call the operation. */
export function listScopes(operation: Guarded): readonly TokenScope[] {
  const needs = describeNeeds(operation);
  return TOKEN_SCOPES.filter((scope) => hasScope({ scopes: [scope] }, needs));
}

/** Whether a token with these scopes may hand on this one: a new token must not open more than the one that makes it. */
export function mayHandOn(scopes: readonly TokenScope[], scope: TokenScope): boolean {
  if (scopes.includes(scope)) return true;
  // What `run` opens of the quantum API: who has that may hand on less.
  const actions: readonly Action[] = SCOPE_ACTIONS[scope === "quantum" ? "run" : scope];
  return actions.every((action) => opens(scopes, action));
}

function describeNeeds({ allows, audit }: Guarded): Needs {
  switch (allows) {
    case "public":
      return { role: null, token: null, isOperator: false };
    case "caller":
      // What a user has of their own outlasts the token: changing it takes one that may do everything.
      return { role: null, token: audit === null ? "read" : "administer", isOperator: false };
    case "operator":
      return { role: null, token: "administer", isOperator: true };
    case "read":
    case "run":
    case "deploy":
    case "edit":
    case "administer":
      return { role: allows, token: allows, isOperator: false };
    default:
      return allows satisfies never;
  }
}

function hasRole({ role }: Pick<Actor, "role">, needs: Needs): boolean {
  const actions: readonly Action[] = ROLE_ACTIONS[role];
  return needs.role === null || actions.includes(needs.role);
}

function hasScope({ scopes }: Pick<Actor, "scopes">, needs: Needs): boolean {
  return needs.token === null || scopes === null || opens(scopes, needs.token);
}

function opens(scopes: readonly TokenScope[], action: Action): boolean {
  return scopes.some((scope) => {
    const actions: readonly Action[] = SCOPE_ACTIONS[scope];
    return actions.includes(action);
  });
}
