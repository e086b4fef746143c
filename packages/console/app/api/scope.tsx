import type { QueryClient } from "@tanstack/react-query";
import { createContext, useContext } from "react";
import type { ReactNode } from "react";
import type { Actor } from "@platform/contract/permissions";
import { createPlatformApi } from "./client.ts";
import type { AnswerOf, PlatformApi, Sender } from "./client.ts";

/** The signed-in user. */
export type Me = AnswerOf<"getMe">;

/** An organisation of the user. */
export type Organisation = Me["organization"];

/** In whose name the pages below send requests. */
export interface Scope {
  readonly api: PlatformApi;
  /** Second part of every query's key. */
  readonly key: string;
  /** null: pages that concern the user alone, or nobody yet. */
  readonly organisation: Organisation | null;
  /** null: nobody has signed in. */
  readonly me: Me | null;
  readonly queries: QueryClient;
}

/** Clients by whom they send for: a stream connects again when it gets another one. */
const apis = new Map<string, PlatformApi>();

/** Whom requests of a scope are sent for. */
export function toSender({ me, organisation }: Pick<Scope, "me" | "organisation">): Sender {
  return { userId: me?.id ?? null, organizationId: organisation?.id ?? null };
}

/** The scope of the pages of one organisation, of the user's own pages (without one), or of those that need no session (without a user). */
export function createScope(
  queries: QueryClient,
  me: Me | null = null,
  organisation: Organisation | null = null,
): Scope {
  const sender = toSender({ me, organisation });
  const id = `${sender.userId} ${sender.organizationId}`;
  const api = apis.get(id) ?? createPlatformApi(sender);
  apis.set(id, api);
  return { api, key: organisation?.id ?? "own", organisation, me, queries };
}

const ScopeContext = createContext<Scope | null>(null);

/** Gives the scope to everything below. */
export function ScopeProvider({ scope, children }: { readonly scope: Scope; readonly children: ReactNode }) {
  return <ScopeContext value={scope}>{children}</ScopeContext>;
}

/** @throws Error outside of a provider */
export function useScope(): Scope {
  const scope = useContext(ScopeContext);
  if (scope === null) throw new Error("This part of the console is outside of every scope.");
  return scope;
}

/** The organisation of the address. @throws Error on a page that has none */
export function useOrganisation(): Organisation {
  const { organisation } = useScope();
  if (organisation === null) throw new Error("This page belongs to no organisation.");
  return organisation;
}

/** The signed-in user. @throws Error on a page that needs no session */
export function useMe(): Me {
  const { me } = useScope();
  if (me === null) throw new Error("Nobody has signed in.");
  return me;
}

/** Who the user is to the server's rules; outside of an organisation, what concerns the user alone needs no role. */
export function toActor({ me, organisation }: Scope): Actor {
  return { role: organisation?.role ?? "viewer", scopes: null, isOperator: me?.operator ?? false };
}
