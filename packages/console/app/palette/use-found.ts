import { useDebouncedValue } from "@mantine/hooks";
import { useNavigate } from "@tanstack/react-router";
import type { UseNavigateResult } from "@tanstack/react-router";
import { SEARCH_LIMITS } from "@platform/contract/search-limits";
import { q, useFetched } from "../api/queries.ts";
import type { AnswerOf, ItemOf, OperationId } from "../api/client.ts";
import { useOrganisation } from "../api/scope.tsx";
import { readQuery } from "./find-commands.ts";
import type { Command } from "./find-commands.ts";

/** Who types on is not searched for yet. */
const PAUSE_MS = 250;
/** One letter is in most names. */
const FEWEST = 2;
/** Of each kind. */
const MOST = 5;

/** What the platform knows by this name. */
interface Found {
  readonly commands: readonly Command[];
  readonly isSearching: boolean;
}

/** Five requests, once the typing has paused. */
export function useFound(query: string): Found {
  const { slug } = useOrganisation();
  const navigate = useNavigate();
  // Of all that is asked, this takes the shortest text.
  const wanted = query.trim().slice(0, SEARCH_LIMITS.service);
  const [text] = useDebouncedValue(wanted, PAUSE_MS);
  const { isPending, ...lists } = useLists(text, isSearched(text));
  if (!isSearched(wanted)) return { commands: [], isSearching: false };
  // What belongs to an earlier text is not offered: Enter would choose it.
  if (text !== wanted) return { commands: [], isSearching: true };
  return { commands: toCommands(lists, slug, navigate), isSearching: isPending };
}

function isSearched(text: string): boolean {
  return text.length >= FEWEST && readQuery(text) === null;
}

/** Found so far, of each kind. */
interface Lists {
  readonly services: readonly ItemOf<"listServices">[];
  readonly applications: readonly ItemOf<"listApplications">[];
  readonly pools: readonly ItemOf<"listDataPools">[];
  readonly offers: readonly ItemOf<"listMarketplace">[];
  readonly backends: AnswerOf<"listBackends">;
}

type Search = "listServices" | "listApplications" | "listDataPools" | "listMarketplace";

function useLists(text: string, isActive: boolean): Lists & { readonly isPending: boolean } {
  const services = useList("listServices", text, isActive);
  const applications = useList("listApplications", text, isActive);
  const pools = useList("listDataPools", text, isActive);
  const offers = useList("listMarketplace", text, isActive);
  const backends = useBackends(text, isActive);
  return {
    services: services.items,
    applications: applications.items,
    pools: pools.items,
    offers: offers.items,
    backends: backends.items,
    isPending: [services, applications, pools, offers, backends].some(({ isPending }) => isPending),
  };
}

/** All of an organisation are one answer. */
function useBackends(text: string, isActive: boolean) {
  const { data, error } = useFetched(q("listBackends", {}), { isActive });
  const wanted = text.toLowerCase();
  const isNamed = ({ id, display_name: name }: AnswerOf<"listBackends">[number]) =>
    [id, name].some((known) => known.toLowerCase().includes(wanted));
  return {
    items: isActive ? (data ?? []).filter(isNamed).slice(0, MOST) : [],
    isPending: isActive && data === undefined && error === null,
  };
}

function useList<K extends Search & OperationId>(op: K, text: string, isActive: boolean) {
  const request = { query: { q: text, limit: MOST } } as Parameters<typeof q<K>>[1];
  const { data, error } = useFetched(q(op, request), { isActive });
  const found: { readonly items: readonly unknown[] } | null | undefined = data;
  return {
    items: (found?.items ?? []) as readonly ItemOf<K>[],
    isPending: isActive && data === undefined && error === null,
  };
}

function toCommands(
  { services, applications, pools, offers, backends }: Lists,
  org: string,
  navigate: UseNavigateResult<string>,
): readonly Command[] {
  return [
    ...services.map(({ key, name }) => ({
      id: `service ${key}`,
      label: name,
      group: "Service",
      run: () => void navigate({ to: "/o/$org/services/$key", params: { org, key } }),
    })),
    ...applications.map(({ id, name }) => ({
      id: `application ${id}`,
      label: name,
      group: "Application",
      run: () => void navigate({ to: "/o/$org/applications/$id", params: { org, id } }),
    })),
    ...pools.map(({ id, name }) => ({
      id: `pool ${id}`,
      label: name,
      group: "Data pool",
      run: () => void navigate({ to: "/o/$org/data-pools/$id", params: { org, id } }),
    })),
    ...backends.map(({ id, display_name: name }) => ({
      id: `backend ${id}`,
      label: id,
      group: `Backend, ${name}`,
      run: () => void navigate({ to: "/o/$org/backends/$id", params: { org, id } }),
    })),
    ...offers.map(({ serviceKey: key, serviceName, title, providerName }) => ({
      id: `offer ${key}`,
      label: title === "" ? serviceName : title,
      group: `Marketplace, by ${providerName}`,
      run: () => void navigate({ to: "/o/$org/marketplace/$key", params: { org, key } }),
    })),
  ];
}
