import { Button, Paper, Stack, Text } from "@mantine/core";
import { useRef, useState } from "react";
import type { DragEvent, ReactNode } from "react";

interface DropZoneProps {
  /** What to drop, before the button: "Drop files here, or". */
  readonly words: string;
  /** On the button. */
  readonly button: string;
  /** Name of the file field. */
  readonly label: string;
  /** What the browser offers to choose from; absent: every file. */
  readonly accept?: string;
  readonly isMultiple?: boolean;
  readonly hint: ReactNode;
  readonly choose: (files: readonly File[]) => void;
}

/** Where files are dropped or chosen. */
export function DropZone({ words, button, label, accept, isMultiple = false, hint, choose }: DropZoneProps) {
  const input = useRef<HTMLInputElement>(null);
  const [isOver, setIsOver] = useState(false);
  const drop = (event: DragEvent) => {
    event.preventDefault();
    setIsOver(false);
    choose([...event.dataTransfer.files]);
  };
  return (
    <Paper
      withBorder
      p="xl"
      radius="md"
      style={{
        borderStyle: "dashed",
        borderColor: isOver ? "var(--mantine-primary-color-filled)" : undefined,
      }}
      onDragOver={(event) => {
        event.preventDefault();
        setIsOver(true);
      }}
      onDragLeave={() => setIsOver(false)}
      onDrop={drop}
    >
      <Stack align="center" gap="xs">
        <Text ta="center">{words}</Text>
        <Button variant="default" onClick={() => input.current?.click()}>
          {button}
        </Button>
        <input
          ref={input}
          type="file"
          accept={accept}
          multiple={isMultiple}
          aria-label={label}
          hidden
          onChange={(event) => {
            choose([...(event.currentTarget.files ?? [])]);
            event.currentTarget.value = "";
          }}
        />
        <Text fz="sm" c="dimmed" ta="center">
          {hint}
        </Text>
      </Stack>
    </Paper>
  );
}
