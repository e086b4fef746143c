import { Button, FileButton, Group, Input, Text } from "@mantine/core";
import { useState } from "react";
import { useFormContext } from "./schema-backed-form.tsx";

const TYPES = ["image/png", "image/jpeg", "image/webp"];
/** Its data URL has 16,384 characters at most, a third more than bytes. */
const MOST_BYTES = 12_000;

/** A small image, kept as a data URL; null: none. */
export function IconField({ name, label }: { readonly name: string; readonly label: string }) {
  const form = useFormContext();
  const [icon, setIcon] = useState(form.getValues()[name]);
  const [fault, setFault] = useState<string | null>(null);
  const change = (value: string | null) => {
    form.setFieldValue(name, value);
    setIcon(value);
  };
  const read = async (file: File | null): Promise<void> => {
    if (file === null) return;
    const isUsable = TYPES.includes(file.type) && file.size <= MOST_BYTES;
    setFault(isUsable ? null : "A PNG, JPEG or WebP image of at most 12 kB is needed");
    if (isUsable) change(`data:${file.type};base64,${toBase64(new Uint8Array(await file.arrayBuffer()))}`);
  };
  return (
    <Input.Wrapper
      label={label}
      description="PNG, JPEG or WebP of at most 12 kB, e.g. 128 x 128 pixels"
      error={fault ?? form.errors[name]}
      labelElement="div"
    >
      <Group mt={4}>
        {typeof icon === "string" ? (
          <img src={icon} alt="The icon" width={48} height={48} style={{ objectFit: "contain" }} />
        ) : (
          <Text fz="sm" c="dimmed">
            None
          </Text>
        )}
        <FileButton
          onChange={(file) => void read(file)}
          accept={TYPES.join()}
          inputProps={{ "aria-label": "Icon" }}
        >
          {(props) => (
            <Button {...props} variant="default" size="xs">
              Choose
            </Button>
          )}
        </FileButton>
        {typeof icon === "string" && (
          <Button variant="default" size="xs" onClick={() => change(null)}>
            Remove
          </Button>
        )}
      </Group>
    </Input.Wrapper>
  );
}

function toBase64(bytes: Uint8Array): string {
  return btoa(Array.from(bytes, (byte) => String.fromCodePoint(byte)).join(""));
}
