import { Modal } from "@mantine/core";
import { useNavigate, useSearch } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { keepFocusWithin, useFocusBack } from "./dialog-focus.ts";

interface DialogProps {
  readonly title: string;
  readonly isOpen: boolean;
  readonly onClose: () => void;
  readonly children: ReactNode;
  /** Width in pixels. */
  readonly width?: number;
  /** true: no Escape, no click beside it, no X: what it shows must not be lost by accident. */
  readonly isHeld?: boolean;
}

/** A dialog. Mantine's own header is a `<header>`, which would be a second banner of the page. */
export function Dialog({ title, isOpen, onClose, children, width = 520, isHeld = false }: DialogProps) {
  useFocusBack(isOpen);
  return (
    <Modal.Root
      opened={isOpen}
      onClose={onClose}
      size={width}
      closeOnEscape={!isHeld}
      closeOnClickOutside={!isHeld}
      centered
    >
      <Modal.Overlay backgroundOpacity={0.4} />
      <Modal.Content>
        <Modal.Header component="div">
          <Modal.Title component="h2" fz="lg" fw={650}>
            {title}
          </Modal.Title>
          {!isHeld && <Modal.CloseButton aria-label="Close" />}
        </Modal.Header>
        <Modal.Body>
          <div ref={keepFocusWithin}>{children}</div>
        </Modal.Body>
      </Modal.Content>
    </Modal.Root>
  );
}

interface RoutedDialogProps extends Omit<DialogProps, "isOpen" | "onClose" | "children"> {
  /** The search parameter that opens it, and its value. */
  readonly when: readonly [parameter: string, value: string];
  /** Gets what closes it. */
  readonly children: (close: () => void) => ReactNode;
}

/** A dialog of the URL: a link opens it, Back closes it. Closing takes its parameter out. */
export function RoutedDialog({ when: [parameter, value], children, ...dialog }: RoutedDialogProps) {
  const search: Readonly<Record<string, unknown>> = useSearch({ strict: false });
  const setSearch = useSetSearch();
  const close = () => setSearch({ [parameter]: undefined });
  const isOpen = search[parameter] === value;
  return (
    <Dialog {...dialog} isOpen={isOpen} onClose={close}>
      {isOpen && children(close)}
    </Dialog>
  );
}

/** Changes parameters of the current URL, and keeps the others; undefined takes one out. `push`: Back undoes it. */
export function useSetSearch(): (
  change: Readonly<Record<string, unknown>>,
  how?: "push" | "replace",
) => void {
  const navigate = useNavigate();
  return (change, how = "replace") => {
    const merge = (before: Readonly<Record<string, unknown>>) => ({ ...before, ...change });
    void navigate({ to: ".", search: merge as never, replace: how === "replace" });
  };
}
