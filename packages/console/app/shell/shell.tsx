import { ActionIcon, Burger, Drawer, Text } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { IconSearch } from "@tabler/icons-react";
import { Outlet, getRouteApi, useNavigate, useParams } from "@tanstack/react-router";
import { lazy, Suspense, useState } from "react";
import { ScopeProvider } from "../api/scope.tsx";
import type { Organisation, Scope } from "../api/scope.tsx";
import { AppLink } from "../ui/link.tsx";
import { readStored } from "../util/storage.ts";
import { AccountMenu } from "./account-menu.tsx";
import { ColorSchemeMenu } from "./color-scheme-menu.tsx";
import { KeysHelp } from "./keys-help.tsx";
import { Navigation, findKey, listPages } from "./navigation.tsx";
import { OrganisationSwitcher } from "./organisation-switcher.tsx";
import { OfflineBar } from "./offline-bar.tsx";
import { useKeys } from "./use-keys.ts";
import "./shell.css";

const signedIn = getRouteApi("/in");
const Palette = lazy(async () => ({ default: (await import("../palette/palette.tsx")).Palette }));

/** Header, navigation and the place of the page. */
export function Shell() {
  const { scope, me } = signedIn.useRouteContext();
  const { org } = useParams({ strict: false });
  const slug = org ?? readStored("organisation");
  const organisation = me.organizations.find((one) => one.slug === slug) ?? me.organization;
  const [isOpen, { toggle, close }] = useDisclosure();
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
        <div className="shell-wide">
          <OrganisationSwitcher current={organisation} all={me.organizations} />
        </div>
        <span className="shell-space" />
        <Finder scope={scope} organisation={organisation} />
        <ColorSchemeMenu />
        <AccountMenu me={me} />
      </header>
      <OfflineBar />
      <Drawer
        opened={isOpen}
        onClose={close}
        title="Pages"
        size={280}
        closeButtonProps={{ "aria-label": "Close" }}
      >
        <Text fz="sm" c="dimmed" mb={4}>
          Organisation
        </Text>
        <OrganisationSwitcher current={organisation} all={me.organizations} onChoose={close} />
        <div style={{ height: 12 }} />
        {navigation}
      </Drawer>
      <div className="shell-body">
        <div className="shell-navigation">{navigation}</div>
        <main id="main" tabIndex={-1} className="shell-main">
          <Outlet />
        </main>
      </div>
    </ScopeProvider>
  );
}

/** The palette and the keys of all pages. */
function Finder({ scope, organisation }: { readonly scope: Scope; readonly organisation: Organisation }) {
  const navigate = useNavigate();
  const [opened, setOpened] = useState(0);
  const [isHelpOpen, setIsHelpOpen] = useState(false);
  const pages = listPages(scope, organisation);
  const open = () => setOpened((times) => times + 1);
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
      {opened > 0 && (
        <Suspense>
          <Palette organisation={organisation} opened={opened} />
        </Suspense>
      )}
      <KeysHelp
        isOpen={isHelpOpen}
        onClose={() => setIsHelpOpen(false)}
        pages={pages.flatMap((page) => {
          const key = findKey(page);
          return key === null ? [] : [{ key, label: page.label }];
        })}
      />
    </>
  );
}
