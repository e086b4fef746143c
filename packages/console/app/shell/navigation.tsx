import { Text } from "@mantine/core";
import {
  IconApps,
  IconAtom2,
  IconBuildingStore,
  IconChartBar,
  IconChartHistogram,
  IconCode,
  IconDatabase,
  IconHome,
  IconPlayerPlay,
  IconSettings,
  IconShieldCheck,
  IconUsers,
} from "@tabler/icons-react";
import { can } from "@platform/contract/permissions";
import { ROUTES } from "../api/client.ts";
import type { OperationId } from "../api/client.ts";
import { toActor } from "../api/scope.tsx";
import type { Organisation, Scope } from "../api/scope.tsx";
import { NavigationLink } from "../ui/link.tsx";

/** The pages of the navigation. `op`: what a page reads; who may not is not shown it. `key`: leads to it behind `g`. */
const GROUPS = [
  { name: null, pages: [{ to: "/o/$org", label: "Home", icon: IconHome, op: "listServices", key: "h" }] },
  {
    name: "Build",
    pages: [{ to: "/o/$org/services", label: "Services", icon: IconCode, op: "listServices", key: "s" }],
  },
  {
    name: "Use",
    pages: [
      {
        to: "/o/$org/marketplace",
        label: "Marketplace",
        icon: IconBuildingStore,
        op: "listMarketplace",
        key: "m",
      },
      { to: "/o/$org/applications", label: "Applications", icon: IconApps, op: "listApplications", key: "a" },
      { to: "/o/$org/data-pools", label: "Data pools", icon: IconDatabase, op: "listDataPools", key: "d" },
      { to: "/o/$org/backends", label: "Backends", icon: IconAtom2, op: "listBackends", key: "b" },
    ],
  },
  {
    name: "Run",
    pages: [
      { to: "/o/$org/executions", label: "Executions", icon: IconPlayerPlay, op: "listExecutions", key: "e" },
      {
        to: "/o/$org/quantum-jobs",
        label: "Quantum jobs",
        icon: IconChartHistogram,
        op: "listQuantumJobs",
        key: "q",
      },
    ],
  },
  {
    name: "Organisation",
    pages: [
      { to: "/o/$org/usage", label: "Usage", icon: IconChartBar, op: "getUsage", key: "u" },
      { to: "/o/$org/members", label: "Members", icon: IconUsers, op: "listMembers" },
      { to: "/o/$org/audit", label: "Audit log", icon: IconShieldCheck, op: "listAuditEvents" },
      { to: "/o/$org/settings", label: "Settings", icon: IconSettings, op: "listOrganizationVariables" },
    ],
  },
] as const satisfies readonly {
  readonly name: string | null;
  readonly pages: readonly {
    readonly op: OperationId;
    readonly to: string;
    readonly label: string;
    readonly icon: typeof IconHome;
    readonly key?: string;
  }[];
}[];

type NavigationPage = (typeof GROUPS)[number]["pages"][number];

/** The pages of an organisation that the user may see. */
export function listPages(scope: Scope, organisation: Organisation): readonly NavigationPage[] {
  const actor = toActor({ ...scope, organisation });
  return GROUPS.flatMap<NavigationPage>(({ pages }) => pages).filter(({ op }) => can(actor, ROUTES[op]));
}

/** The key behind `g` that leads to a page; null: none does. */
export function findKey(page: NavigationPage): string | null {
  return "key" in page ? page.key : null;
}

interface NavigationProps {
  readonly scope: Scope;
  readonly organisation: Organisation;
  /** Called when a page was chosen. */
  readonly onChoose?: () => void;
}

/** The pages of an organisation that the user may see. */
export function Navigation({ scope, organisation, onChoose }: NavigationProps) {
  const shown = new Set<string>(listPages(scope, organisation).map(({ to }) => to));
  return (
    <nav aria-label="Pages">
      {GROUPS.map(({ name, pages }) => (
        <div key={name} className="nav-group" role="group" aria-label={name ?? undefined}>
          {name !== null && <Text className="nav-title">{name}</Text>}
          {pages
            .filter(({ to }) => shown.has(to))
            .map(({ to, label, icon: Icon }) => (
              <NavigationLink
                key={to}
                to={to}
                params={{ org: organisation.slug }}
                label={label}
                leftSection={<Icon size={18} aria-hidden />}
                activeOptions={{ exact: to === "/o/$org", includeSearch: false }}
                activeProps={{ active: true, "aria-current": "page" }}
                variant="light"
                {...(onChoose === undefined ? {} : { onClick: onChoose })}
              />
            ))}
        </div>
      ))}
    </nav>
  );
}
