import { ActionIcon, Burger } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { IconSearch } from "@tabler/icons-react";
import { Outlet, getRouteApi, useMatch, useNavigate, useParams } from "@tanstack/react-router";
import { lazy, Suspense, useState } from "react";
import { ScopeProvider } from "../api/scope.tsx";
import type { Me, Organisation, Scope } from "../api/scope.tsx";
import { AppLink } from "../ui/link.tsx";
import { readStored } from "../util/storage.ts";
import { Navigation, findKey, listPages } from "./navigation.tsx";
import { OfflineBar } from "./offline-bar.tsx";
import { SessionBar } from "./session-bar.tsx";
import { useKeys } from "./use-keys.ts";
import "./shell.css";

const signedIn = getRouteApi("/in");

/* Menus, dialogs and what places them weigh as much as a page: they come behind it. */
const loadHeaderParts = () => import("./header-parts.tsx");
const AccountMenu = lazy(async () => ({ default: (await loadHeaderParts()).AccountMenu }));
const ColorSchemeMenu = lazy(async () => ({
  default: (await loadHeaderParts()).ColorSchemeMenu,
}));
const OrganisationSwitcher = lazy(async () => ({
  default: (await loadHeaderParts()).OrganisationSwitcher,
}));
const NarrowNavigation = lazy(async () => ({
  default: (await import("./narrow-navigation.tsx")).NarrowNavigation,
}));
const KeysHelp = lazy(async () => ({ default: (await import("./keys-help.tsx")).KeysHelp }));
const Palette = lazy(async () => ({ default: (await import("../palette/palette.tsx")).Palette }));

/** That of the address, or else the one that was open last. */
function useShownOrganisation(me: Me): Organisation {
  const { org } = useParams({ strict: false });
  const slug = org ?? readStored("organisation");
  // Who is a member of more than come with the user has the one of the address from its route.
  const opened = useMatch({
    from: "/in/o/$org",
    shouldThrow: false,
    // There is none until the route has found it.
    select: ({ context }: { readonly context: { readonly scope?: Scope } }) => context.scope?.organisation,
  });
  return me.organizations.find((one) => one.slug === slug) ?? opened ?? me.organization;
}

/** Header, navigation and the place of the page. */
export function Shell() {
  const { scope, me } = signedIn.useRouteContext();
  const organisation = useShownOrganisation(me);
  const [wasOpened, setWasOpened] = useState(false);
  const [isOpen, { toggle, close }] = useDisclosure(false, { onOpen: () => setWasOpened(true) });
  const navigation = <Navigation scope={scope} organisation={organisation} onChoose={close} />;
  return (
    <ScopeProvider scope={scope}>
      <a href="#main" className="skip-link">
        Skip to the page
      </a>
      <header className="shell-header">
        <Burger
          className="shell-narrow"
          size="sm"
          opened={isOpen}
          onClick={toggle}
          aria-label="Pages and organisation"
          aria-expanded={isOpen}
        />
        <AppLink to="/o/$org" params={{ org: organisation.slug }} className="shell-name" underline="never">
          Platform
        </AppLink>
        <div className="shell-wide shell-switcher">
          <Suspense>
            <OrganisationSwitcher current={organisation} all={me.organizations} />
          </Suspense>
        </div>
        <span className="shell-space" />
        <Finder scope={scope} organisation={organisation} />
        <Menus me={me} />
      </header>
      <OfflineBar />
      <SessionBar />
      {wasOpened && (
        <Suspense>
          <NarrowNavigation
            isOpen={isOpen}
            onClose={close}
            organisation={organisation}
            all={me.organizations}
          >
            {navigation}
          </NarrowNavigation>
        </Suspense>
      )}
      <div className="shell-body">
        <div className="shell-navigation">{navigation}</div>
        <main id="main" tabIndex={-1} className="shell-main">
          {/* What one user has entered is not shown to the next. */}
          <Outlet key={me.id} />
        </main>
      </div>
    </ScopeProvider>
  );
}

function Menus({ me }: { readonly me: Me }) {
  return (
    <div className="shell-menus">
      <Suspense>
        <ColorSchemeMenu />
        <AccountMenu me={me} />
      </Suspense>
    </div>
  );
}

/** The palette and the keys of all pages. */
function Finder({ scope, organisation }: { readonly scope: Scope; readonly organisation: Organisation }) {
  const navigate = useNavigate();
  const [palette, setPalette] = useState<"never opened" | "open" | "closed">("never opened");
  const [isHelpOpen, setIsHelpOpen] = useState(false);
  const pages = listPages(scope, organisation);
  const open = () => setPalette("open");
  useKeys({
    onPalette: open,
    onHelp: () => setIsHelpOpen(true),
    onGo: (key) => {
      const page = pages.find((one) => findKey(one) === key);
      if (page !== undefined) void navigate({ to: page.to, params: { org: organisation.slug } });
    },
  });
  return (
    <>
      <ActionIcon
        variant="subtle"
        color="gray"
        size="lg"
        c="var(--mantine-color-text)"
        aria-label="Find (Ctrl K)"
        aria-keyshortcuts="Control+K"
        onClick={open}
      >
        <IconSearch size={19} aria-hidden />
      </ActionIcon>
      {palette !== "never opened" && (
        <Suspense>
          <Palette
            organisation={organisation}
            isOpen={palette === "open"}
            onClose={() => setPalette("closed")}
          />
        </Suspense>
      )}
      {isHelpOpen && (
        <Suspense>
          <KeysHelp
            onClose={() => setIsHelpOpen(false)}
            pages={pages.flatMap((page) => {
              const key = findKey(page);
              return key === null ? [] : [{ key, label: page.label }];
            })}
          />
        </Suspense>
      )}
    </>
  );
}
