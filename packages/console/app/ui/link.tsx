import { Anchor, Button, NavLink } from "@mantine/core";
import type { AnchorProps, ButtonProps, NavLinkProps } from "@mantine/core";
import { createLink } from "@tanstack/react-router";
import type { ComponentPropsWithRef } from "react";

type Props<Own> = Own & Omit<ComponentPropsWithRef<"a">, keyof Own>;

/** A link within the console, by the path of its route. */
export const AppLink = createLink((props: Props<AnchorProps>) => <Anchor inherit {...props} />);

/** The same with the look of a button. */
export const ButtonLink = createLink((props: Props<ButtonProps>) => <Button component="a" {...props} />);

/** The same in the navigation. */
export const NavigationLink = createLink((props: Props<NavLinkProps>) => (
  <NavLink component="a" {...props} />
));
