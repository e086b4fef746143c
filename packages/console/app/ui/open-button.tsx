import { Button } from "@mantine/core";
import type { ButtonProps } from "@mantine/core";
import type { ReactNode } from "react";
import type { OperationId } from "../api/client.ts";
import { Can } from "./can.tsx";
import { useSetSearch } from "./dialog.tsx";

interface OpenButtonProps extends ButtonProps {
  /** What the dialog does, which decides who may open it. */
  readonly op: OperationId;
  /** Parameters of the URL that open the dialog (`RoutedDialog`). */
  readonly set: Readonly<Record<string, string>>;
  /** Why it is of no use now. */
  readonly unless?: string | null;
  readonly children: ReactNode;
}

/** Opens a dialog of the URL; Back closes it. */
export function OpenButton({ op, set, unless, children, ...button }: OpenButtonProps) {
  const setSearch = useSetSearch();
  return (
    <Can op={op} unless={unless}>
      <Button {...button} aria-haspopup="dialog" onClick={() => setSearch(set, "push")}>
        {children}
      </Button>
    </Can>
  );
}
