import { ActionIcon, Menu, Text } from "@mantine/core";
import { IconDevices, IconKey, IconLogout, IconServerCog, IconUser } from "@tabler/icons-react";
import { useRouter } from "@tanstack/react-router";
import { useScope } from "../api/scope.tsx";
import type { Me } from "../api/scope.tsx";
import { findMe } from "../api/session.ts";
import { useSignOut } from "../api/use-sign-out.ts";
import { MenuLink } from "../ui/menu-link.tsx";
import { notifyDone, notifyFailure } from "../ui/notify.ts";

/** What the user has of their own, and the way out. */
export function AccountMenu({ me }: { readonly me: Me }) {
  const leave = useLeave();
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
        <Menu.Item leftSection={<IconLogout size={16} aria-hidden />} onClick={leave}>
          Sign out
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}

function useLeave(): () => void {
  const router = useRouter();
  const { queries } = useScope();
  const { signOut } = useSignOut();
  const leave = async () => {
    await signOut();
    const other = await findMe(queries).catch(() => null);
    if (other !== null) notifyDone(`${other.name} has signed in in this browser, and stays signed in.`);
    await router.navigate({ to: "/sign-in", search: {} });
  };
  return () => void leave().catch(notifyFailure);
}
