import { Kbd, Stack, Text } from "@mantine/core";
import { Dialog } from "../ui/dialog.tsx";
import { AppLink } from "../ui/link.tsx";

const KEYS = [
  ["Ctrl K", "find a page, an action, an execution, what the organisation has"],
  ["?", "this list"],
  ["/", "to the filter of a list"],
  ["j k", "to the next or the previous row of a list that has the focus"],
  ["Enter", "opens the row"],
  ["x", "selects the row"],
  ["1 2 3", "to a tab of the page"],
  ["c", "cancels the execution that is open; it asks before"],
  ["r", "runs the execution that is open again"],
  ["f", "to the log of the execution that is open, and to its end"],
] as const;

interface KeysHelpProps {
  readonly onClose: () => void;
  /** Keys behind `g`, with the pages that they lead to. */
  readonly pages: readonly { readonly key: string; readonly label: string }[];
}

/** What `?` shows. */
export function KeysHelp({ onClose, pages }: KeysHelpProps) {
  const all = [...KEYS, ...pages.map(({ key, label }) => [`g ${key}`, `to ${label}`] as const)];
  return (
    <Dialog title="Keys" isOpen onClose={onClose}>
      <Stack>
        <dl className="facts">
          {all.map(([key, what]) => (
            <div key={key} style={{ display: "contents" }}>
              <dt>
                <Kbd>{key}</Kbd>
              </dt>
              <dd>{what}</dd>
            </div>
          ))}
        </dl>
        <Text fz="sm" c="dimmed">
          Single keys can be switched off in your{" "}
          <AppLink to="/account" onClick={onClose} underline="always">
            profile
          </AppLink>
          .
        </Text>
      </Stack>
    </Dialog>
  );
}
