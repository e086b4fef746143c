import { Button } from "@mantine/core";
import { BODY_FILE, isInFile } from "@platform/contract/snippets/texts";
import { saveText } from "./save.ts";

/** Of a body that is too long for a program: the file that the program reads. */
export function SaveBody({ text }: { readonly text: string }) {
  if (!isInFile(text)) return null;
  return (
    <Button
      variant="default"
      style={{ alignSelf: "flex-start" }}
      onClick={() => saveText(BODY_FILE, text, "application/json")}
    >
      Save {BODY_FILE}
    </Button>
  );
}
