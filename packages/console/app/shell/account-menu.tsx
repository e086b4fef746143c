import { ActionIcon, Menu, Text } from "@mantine/core";
import { IconDevices, IconKey, IconLogout, IconServerCog, IconUser } from "@tabler/icons-react";
import { useRouter } from "@tanstack/react-router";
import { useChange } from "../api/queries.ts";
import { useScope } from "../api/scope.tsx";
import type { Me } from "../api/scope.tsx";
import { MenuLink } from "../ui/menu-link.tsx";
import { notifyFailure } from "../ui/notify.ts";

/** What the user has of their own, and the way out. */
export function AccountMenu({ me }: { readonly me: Me }) {
  const signOut = useSignOut();
  return (
    <Menu position="bottom-end" withinPortal width={230}>
      <Menu.Target>
        <ActionIcon
          variant="subtle"
          color="gray"
          size="lg"
          c="var(--mantine-color-text)"
          aria-label={`Account of ${me.name}`}
        >
          <IconUser size={20} aria-hidden />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <div style={{ padding: "6px 12px 8px" }}>
          <Text fw={600} fz="sm" truncate title={me.name}>
            {me.name}
          </Text>
          <Text c="dimmed" fz="sm" truncate title={me.email}>
            {me.email}
          </Text>
        </div>
        <Menu.Divider />
        <MenuLink to="/account" leftSection={<IconUser size={16} aria-hidden />}>
          Profile
        </MenuLink>
        <MenuLink to="/account/tokens" leftSection={<IconKey size={16} aria-hidden />}>
          Personal access tokens
        </MenuLink>
        <MenuLink to="/account/sessions" leftSection={<IconDevices size={16} aria-hidden />}>
          Sessions
        </MenuLink>
        {me.operator && (
          <>
            <Menu.Divider />
            <MenuLink to="/operator" leftSection={<IconServerCog size={16} aria-hidden />}>
              Operator
            </MenuLink>
          </>
        )}
        <Menu.Divider />
        <Menu.Item leftSection={<IconLogout size={16} aria-hidden />} onClick={signOut}>
          Sign out
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}

/** Ends the session, and forgets everything that was read with it. */
function useSignOut(): () => void {
  const { queries } = useScope();
  const router = useRouter();
  const change = useChange("signOut", { refresh: [] });
  const leave = async () => {
    await change.run({});
    queries.clear();
    await router.navigate({ to: "/sign-in", search: {} });
  };
  return () => void leave().catch(notifyFailure);
}
