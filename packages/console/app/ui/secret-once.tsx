import { Alert, Button, Checkbox, Group, Stack, Text } from "@mantine/core";
import { useEffect, useState } from "react";
import { CopyButton, CopyLine } from "./copy-button.tsx";
import { Dialog } from "./dialog.tsx";
import { saveText } from "./save.ts";
import { Unless } from "./unless.tsx";
import { noteUnsaved } from "./unsaved.ts";

/** A value that is shown once. */
interface Secret {
  /** "Key id", "Secret". */
  readonly label: string;
  /** Name of the variable in the file; absent: it is not in the file. */
  readonly variable?: string;
  readonly value: string;
}

interface SecretOnceProps {
  readonly title: string;
  /** null: the dialog is closed. Held by the page's own state: not in a URL, not in the cache of queries. */
  readonly secrets: readonly Secret[] | null;
  readonly onClose: () => void;
}

/** Shows secrets the only time that they are known. It closes when the user says that they are stored, and by nothing else. */
export function SecretOnce({ title, secrets, onClose }: SecretOnceProps) {
  const [isStored, setIsStored] = useState(false);
  const isShown = secrets !== null;
  useEffect(() => noteUnsaved(() => isShown), [isShown]);
  const close = () => {
    setIsStored(false);
    onClose();
  };
  const file = (secrets ?? [])
    .filter(({ variable }) => variable !== undefined)
    .map(({ variable, value }) => `${variable}=${value}\n`)
    .join("");
  return (
    <Dialog title={title} isOpen={isShown} onClose={close} isHeld width={600}>
      <Stack>
        <Alert color="yellow" variant="light" title="Shown only now">
          <Text fz="sm" c="var(--mantine-color-text)">
            It cannot be shown again. If it is lost, make a new one.
          </Text>
        </Alert>
        <dl className="facts">
          {(secrets ?? []).map(({ label, value }) => (
            <div key={label} style={{ display: "contents" }}>
              <dt>{label}</dt>
              <dd>
                <CopyLine text={value} what={label.toLowerCase()} />
              </dd>
            </div>
          ))}
        </dl>
        {file !== "" && (
          <Group gap="xs">
            <CopyButton text={file} what="as variables" label="Copy as variables" />
            <Button variant="default" size="compact-sm" onClick={() => saveText("platform.env", file)}>
              Download platform.env
            </Button>
          </Group>
        )}
        <Checkbox
          label="I have stored it"
          checked={isStored}
          onChange={(event) => setIsStored(event.currentTarget.checked)}
        />
        <Group justify="flex-end">
          <Unless reason={isStored ? null : "Say first that you have stored it."}>
            <Button onClick={close}>Close</Button>
          </Unless>
        </Group>
      </Stack>
    </Dialog>
  );
}
