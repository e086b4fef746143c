import { Menu } from "@mantine/core";
import type { MenuItemProps } from "@mantine/core";
import { createLink } from "@tanstack/react-router";
import type { ComponentPropsWithRef } from "react";

/** A link of a menu. Apart from other links: menus are not in the entry. */
export const MenuLink = createLink(
  (props: MenuItemProps & Omit<ComponentPropsWithRef<"a">, keyof MenuItemProps>) => (
    <Menu.Item component="a" {...props} />
  ),
);
