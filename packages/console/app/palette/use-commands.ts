import { useNavigate } from "@tanstack/react-router";
import type { UseNavigateResult } from "@tanstack/react-router";
import { can } from "@platform/contract/permissions";
import { FAILURE_WORDS } from "@platform/contract/words.gen";
import { ROUTES } from "../api/client.ts";
import type { OperationId } from "../api/client.ts";
import { toActor, useOrganisation, useScope } from "../api/scope.tsx";
import { EXECUTION_PRESETS } from "../execution/presets.ts";
import { OPERATOR_PAGES } from "../pages/operator/operator-pages.ts";
import { listPages } from "../shell/navigation.tsx";
import { readQuery } from "./find-commands.ts";
import type { Command } from "./find-commands.ts";

const OWN = [
  { to: "/account", label: "Profile" },
  { to: "/account/tokens", label: "Personal access tokens" },
  { to: "/account/sessions", label: "Sessions" },
] as const;

/** What can be begun from anywhere. `op`: what it does in the end; who may not is not offered it. */
const ACTIONS = [
  { label: "New service", op: "createService", to: "/o/$org/services/new", search: {} },
  {
    label: "New application",
    op: "createApplication",
    to: "/o/$org/applications",
    search: { new: "application" },
  },
  { label: "Run a circuit on a backend", op: "createQuantumJob", to: "/o/$org/backends", search: {} },
  { label: "New data pool", op: "createDataPool", to: "/o/$org/data-pools", search: { new: "pool" } },
  {
    label: "New personal access token",
    op: "createPersonalAccessToken",
    to: "/account/tokens",
    search: { new: "token" },
  },
] as const satisfies readonly {
  readonly label: string;
  readonly op: OperationId;
  readonly to: string;
  readonly search: object;
}[];

/** Pages of no organisation: the user's own, and those of who runs the platform. */
function listOthers(navigate: UseNavigateResult<string>, isOperator: boolean): readonly Command[] {
  const own = OWN.map(({ to, label }) => ({
    id: to,
    label,
    group: "Page",
    run: () => void navigate({ to }),
  }));
  if (!isOperator) return own;
  const words = "operator";
  const pages = OPERATOR_PAGES.map(([to, label]) => ({
    id: to,
    label,
    group: "Operator",
    words,
    run: () => void navigate({ to }),
  }));
  return [...own, ...pages];
}

/** What needs no request: pages, actions, codes, and an identifier that was pasted. */
export function useCommands(query: string): readonly Command[] {
  const scope = useScope();
  const organisation = useOrganisation();
  const navigate = useNavigate();
  const org = organisation.slug;
  const actor = toActor(scope);
  const toCode = (code: string) =>
    void navigate({ to: "/o/$org/executions", params: { org }, search: { code } });
  const special = readQuery(query);
  return [
    ...(special?.kind === "id" ? [openExecution(special.value)] : []),
    ...listPages(scope, organisation).map(({ to, label }) => ({
      id: to,
      label,
      group: "Page",
      run: () => void navigate({ to, params: { org } }),
    })),
    ...listOthers(navigate, can(actor, ROUTES.getInstance)),
    ...ACTIONS.filter(({ op }) => can(actor, ROUTES[op])).map(({ label, to, search }) => ({
      id: label,
      label,
      group: "Action",
      run: () => void navigate({ to, params: { org }, search }),
    })),
    ...EXECUTION_PRESETS.map(({ label, set }) => ({
      id: label,
      label: `Executions: ${label}`,
      group: "Action",
      run: () => void navigate({ to: "/o/$org/executions", params: { org }, search: set() }),
    })),
    ...Object.entries(FAILURE_WORDS).map(([code, meaning]) => ({
      id: code,
      label: code,
      group: "Executions with this code",
      words: `${code.replaceAll("_", " ")} ${meaning}`,
      isQuiet: true,
      run: () => toCode(code),
    })),
    ...(special?.kind === "code" && !Object.hasOwn(FAILURE_WORDS, special.value)
      ? [
          {
            id: special.value,
            label: special.value,
            group: "Executions with this code",
            run: () => toCode(special.value),
          },
        ]
      : []),
  ];

  /** Whichever organisation it belongs to. */
  function openExecution(id: string): Command {
    return {
      id,
      label: `Open execution ${id}`,
      group: "Execution",
      run: () => void navigate({ to: "/executions/$id", params: { id } }),
    };
  }
}
