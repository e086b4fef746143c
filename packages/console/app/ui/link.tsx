import { Anchor, Button, NavLink } from "@mantine/core";
import type { AnchorProps, ButtonProps, NavLinkProps } from "@mantine/core";
import { createLink } from "@tanstack/react-router";
import type { ComponentProps, ComponentPropsWithRef } from "react";

type Props<Own> = Own & Omit<ComponentPropsWithRef<"a">, keyof Own>;

const PlainLink = createLink((props: Props<AnchorProps>) => <Anchor inherit {...props} />);

/** To a page above the one that is shown, it is not the current one. */
const EXACT = { exact: true, includeSearch: false } as const;

/** A link within the console, by the path of its route. */
export const AppLink = ((props: ComponentProps<typeof PlainLink>) => (
  <PlainLink activeOptions={EXACT} {...props} />
)) as typeof PlainLink;

/** The same with the look of a button. */
export const ButtonLink = createLink((props: Props<ButtonProps>) => <Button component="a" {...props} />);

/** The same in the navigation. */
export const NavigationLink = createLink((props: Props<NavLinkProps>) => (
  <NavLink component="a" {...props} />
));
