import "@mantine/spotlight/styles.layer.css";
import { createSpotlight, Spotlight } from "@mantine/spotlight";
import { IconApps, IconArrowRight, IconSearch } from "@tabler/icons-react";
import { useNavigate } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import { q, useFetched } from "../api/queries.ts";
import { createScope, ScopeProvider, useScope } from "../api/scope.tsx";
import type { Organisation } from "../api/scope.tsx";
import { listPages } from "../shell/navigation.tsx";
import { findCommands } from "./find-commands.ts";
import type { Command } from "./find-commands.ts";

const [spotlight, handle] = createSpotlight();

interface PaletteProps {
  readonly organisation: Organisation;
  /** Grows by one each time it is asked for. */
  readonly opened: number;
}

/** Finds pages and applications by their name; Ctrl or Cmd K. Loaded when it is asked for the first time. */
export function Palette({ organisation, opened }: PaletteProps) {
  const { queries, me } = useScope();
  useEffect(() => {
    if (opened > 0) handle.open();
  }, [opened]);
  return (
    // The header belongs to the user; what is found here, to the organisation.
    <ScopeProvider scope={createScope(queries, me, organisation)}>
      <Finder organisation={organisation} />
    </ScopeProvider>
  );
}

function Finder({ organisation }: { readonly organisation: Organisation }) {
  const [query, setQuery] = useState("");
  const commands = findCommands(useCommands(organisation), query);
  return (
    <Spotlight.Root
      store={spotlight}
      query={query}
      onQueryChange={setQuery}
      shortcut={null}
      maxHeight={420}
      scrollable
      clearQueryOnClose
    >
      <Spotlight.Search
        placeholder="Find a page or an application"
        aria-label="Find a page or an application"
        leftSection={<IconSearch size={18} aria-hidden />}
      />
      <Spotlight.ActionsList>
        {commands.map(({ id, label, group, run }) => (
          <Spotlight.Action
            key={id}
            label={label}
            description={group}
            leftSection={
              group === "Page" ? <IconArrowRight size={18} aria-hidden /> : <IconApps size={18} aria-hidden />
            }
            onClick={run}
          />
        ))}
        {commands.length === 0 && <Spotlight.Empty>Nothing has this in its name.</Spotlight.Empty>}
      </Spotlight.ActionsList>
    </Spotlight.Root>
  );
}

const OWN = [
  { to: "/account", label: "Profile" },
  { to: "/account/tokens", label: "Personal access tokens" },
  { to: "/account/sessions", label: "Sessions" },
] as const;

function useCommands(organisation: Organisation): readonly Command[] {
  const scope = useScope();
  const navigate = useNavigate();
  const org = organisation.slug;
  const { data } = useFetched(q("listApplications", { query: { limit: 100 } }));
  return [
    ...listPages(scope, organisation).map(({ to, label }) => ({
      id: to,
      label,
      group: "Page",
      run: () => void navigate({ to, params: { org } }),
    })),
    ...OWN.map(({ to, label }) => ({ id: to, label, group: "Page", run: () => void navigate({ to }) })),
    ...(data?.items ?? []).map(({ id, name }) => ({
      id,
      label: name,
      group: "Application",
      run: () => void navigate({ to: "/o/$org/applications/$id", params: { org, id } }),
    })),
  ];
}
