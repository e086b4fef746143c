import { Drawer, Text } from "@mantine/core";
import type { ReactNode } from "react";
import type { Organisation } from "../api/scope.tsx";
import { OrganisationSwitcher } from "./organisation-switcher.tsx";

interface NarrowNavigationProps {
  readonly isOpen: boolean;
  readonly onClose: () => void;
  readonly organisation: Organisation;
  readonly all: readonly Organisation[];
  /** The pages. */
  readonly children: ReactNode;
}

/** Where the screen is narrow: organisation and pages in a drawer. */
export function NarrowNavigation({ isOpen, onClose, organisation, all, children }: NarrowNavigationProps) {
  return (
    <Drawer.Root opened={isOpen} onClose={onClose} size={280}>
      <Drawer.Overlay />
      <Drawer.Content>
        {/* Its own is a <header>, a second banner of the page. */}
        <Drawer.Header component="div">
          <Drawer.Title component="h2" fz="lg" fw={650}>
            Pages
          </Drawer.Title>
          <Drawer.CloseButton aria-label="Close" />
        </Drawer.Header>
        <Drawer.Body>
          <Text fz="sm" c="dimmed" mb={4}>
            Organisation
          </Text>
          <OrganisationSwitcher current={organisation} all={all} onChoose={onClose} />
          <div style={{ height: 12 }} />
          {children}
        </Drawer.Body>
      </Drawer.Content>
    </Drawer.Root>
  );
}
