import { Text } from "@mantine/core";
import { IconApps, IconHome } from "@tabler/icons-react";
import { can } from "@platform/contract/permissions";
import { PLATFORM_ROUTES } from "@platform/contract/platform-api/routes.gen";
import type { OperationId } from "../api/client.ts";
import { toActor } from "../api/scope.tsx";
import type { Organisation, Scope } from "../api/scope.tsx";
import { NavigationLink } from "../ui/link.tsx";

/** A page of the navigation. `op`: what it reads; who may not is not shown the page. */
const GROUPS = [
  { name: null, pages: [{ to: "/o/$org", label: "Home", icon: IconHome, op: "listServices" }] },
  {
    name: "Use",
    pages: [{ to: "/o/$org/applications", label: "Applications", icon: IconApps, op: "listApplications" }],
  },
] as const satisfies readonly {
  readonly name: string | null;
  readonly pages: readonly {
    readonly op: OperationId;
    readonly to: string;
    readonly label: string;
    readonly icon: typeof IconHome;
  }[];
}[];

interface NavigationProps {
  readonly scope: Scope;
  readonly organisation: Organisation;
  /** Called when a page was chosen. */
  readonly onChoose?: () => void;
}

/** The pages of an organisation that the user may see. */
export function Navigation({ scope, organisation, onChoose }: NavigationProps) {
  const actor = toActor({ ...scope, organisation });
  return (
    <nav aria-label="Pages">
      {GROUPS.map(({ name, pages }) => (
        <div key={name} className="nav-group">
          {name !== null && (
            <Text component="h2" className="nav-title">
              {name}
            </Text>
          )}
          {pages
            .filter(({ op }) => can(actor, PLATFORM_ROUTES[op]))
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
