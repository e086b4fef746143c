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
    <Drawer
      opened={isOpen}
      onClose={onClose}
      title="Pages"
      size={280}
      closeButtonProps={{ "aria-label": "Close" }}
    >
      <Text fz="sm" c="dimmed" mb={4}>
        Organisation
      </Text>
      <OrganisationSwitcher current={organisation} all={all} onChoose={onClose} />
      <div style={{ height: 12 }} />
      {children}
    </Drawer>
  );
}
