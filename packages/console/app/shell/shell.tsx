import { Burger, Drawer, Text } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { Outlet, getRouteApi, useParams } from "@tanstack/react-router";
import { ScopeProvider } from "../api/scope.tsx";
import { AppLink } from "../ui/link.tsx";
import { readStored } from "../util/storage.ts";
import { AccountMenu } from "./account-menu.tsx";
import { ColorSchemeMenu } from "./color-scheme-menu.tsx";
import { Navigation } from "./navigation.tsx";
import { OrganisationSwitcher } from "./organisation-switcher.tsx";
import "./shell.css";

const signedIn = getRouteApi("/in");

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
        <ColorSchemeMenu />
        <AccountMenu me={me} />
      </header>
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
