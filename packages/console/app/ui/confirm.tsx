import { Button, Group, Stack, Text, TextInput } from "@mantine/core";
import type { ButtonProps } from "@mantine/core";
import { useState } from "react";
import type { ReactNode } from "react";
import type { OperationId } from "../api/client.ts";
import { Can } from "./can.tsx";
import { Dialog } from "./dialog.tsx";
import { Unless } from "./unless.tsx";
import { useOnePress } from "./use-one-press.ts";

interface ConfirmProps {
  /** The operation, which decides who may. */
  readonly op: OperationId;
  /** On the button that asks, e.g. "Revoke". */
  readonly label: string;
  /** The question, e.g. `Revoke the key "ci"?` */
  readonly question: string;
  /** What happens then, and what does not. */
  readonly children: ReactNode;
  /** What has to be typed before, for what cannot be undone. */
  readonly typed?: string;
  /** Why it is of no use now. */
  readonly unless?: string | null;
  readonly run: () => Promise<unknown>;
  readonly button?: ButtonProps;
  /** A letter that asks. */
  readonly shortcut?: string;
}

/** A button that asks before it does something that cannot be undone. A refusal stays in the dialog's place as a message. */
export function ConfirmButton(props: ConfirmProps) {
  const { op, label, question, children, typed, unless, run, button, shortcut } = props;
  const [isOpen, setIsOpen] = useState(false);
  return (
    <>
      <Can op={op} unless={unless}>
        <Button
          variant="default"
          {...button}
          aria-haspopup="dialog"
          aria-keyshortcuts={shortcut}
          onClick={() => setIsOpen(true)}
        >
          {label}
        </Button>
      </Can>
      <Dialog title={question} isOpen={isOpen} onClose={() => setIsOpen(false)}>
        <Question label={label} typed={typed} run={run} close={() => setIsOpen(false)}>
          {children}
        </Question>
      </Dialog>
    </>
  );
}

interface QuestionProps {
  readonly label: string;
  readonly typed: string | undefined;
  readonly run: () => Promise<unknown>;
  readonly close: () => void;
  readonly children: ReactNode;
}

function Question({ label, typed, run, close, children }: QuestionProps) {
  const [given, setGiven] = useState("");
  const { isRunning, press } = useOnePress(() => run().then(close));
  const isTyped = typed === undefined || given === typed;
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (isTyped) press();
      }}
    >
      <Stack>
        <Text component="div">{children}</Text>
        {typed !== undefined && (
          <TextInput
            label={`Type "${typed}" to go on`}
            value={given}
            onChange={(event) => setGiven(event.currentTarget.value)}
            autoComplete="off"
          />
        )}
        <Group justify="flex-end">
          <Button variant="default" onClick={close}>
            Keep it
          </Button>
          <Unless reason={isTyped ? null : `Type "${typed}" before.`}>
            <Button type="submit" color="red" loading={isRunning}>
              {label}
            </Button>
          </Unless>
        </Group>
      </Stack>
    </form>
  );
}
