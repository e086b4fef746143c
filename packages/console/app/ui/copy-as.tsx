import { Button, Menu } from "@mantine/core";
import { IconCopy } from "@tabler/icons-react";
import { toCurl, toJava, toJavaScript, toPython } from "@platform/contract/snippets/requests";
import type { ShownRequest } from "@platform/contract/snippets/requests";
import { findApiPath, ROUTES } from "../api/client.ts";
import type { OperationId, RequestOf } from "../api/client.ts";
import { useScope } from "../api/scope.tsx";
import { copyText, NOT_COPIED } from "./copy-button.tsx";
import { notifyDone, notifyFault } from "./notify.ts";

interface CopyAsProps<K extends OperationId> {
  /** The operation that reads what the page shows. */
  readonly op: K;
  readonly request: RequestOf<K>;
  /** Identifier of what the page shows. */
  readonly id?: string;
  /** The same on the command line, where there is one. */
  readonly command?: string;
  /** Of its button, beside a title that is not the page's. */
  readonly size?: "xs";
  /** What else there is to copy: its word in the menu, and the text. */
  readonly more?: readonly (readonly [label: string, text: string])[];
}

/** What the page shows, for elsewhere: identifier, link, and requests that read the same. No live secret is in them. */
export function CopyAs<K extends OperationId>({ op, request, id, command, more, size }: CopyAsProps<K>) {
  const { organisation } = useScope();
  const asked = {
    route: ROUTES[op],
    baseUrl: `${globalThis.location.origin}${findApiPath(op)}`,
    request: request as ShownRequest["request"],
    headers: organisation === null ? {} : { "X-OrganizationId": organisation.id },
  };
  const choices: readonly (readonly [label: string, text: () => string])[] = [
    ...(id === undefined ? [] : ([["Identifier", () => id]] as const)),
    ["Link", () => globalThis.location.href],
    ["curl", () => toCurl(asked)],
    ["Python", () => toPython(asked)],
    ["JavaScript", () => toJavaScript(asked)],
    ["Java", () => toJava(asked)],
    ...(command === undefined ? [] : ([["Command", () => command]] as const)),
    ...(more ?? []).map(([label, text]) => [label, () => text] as const),
  ];
  return (
    <Menu position="bottom-end" withinPortal>
      <Menu.Target>
        <Button
          variant="default"
          {...(size === undefined ? {} : { size })}
          leftSection={<IconCopy size={16} aria-hidden />}
        >
          Copy as
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        {choices.map(([label, text]) => (
          <Menu.Item key={label} onClick={() => void copy(label, text())}>
            {label}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}

async function copy(label: string, text: string): Promise<void> {
  if (await copyText(text)) notifyDone(`${label} copied.`);
  else notifyFault(`${label} could not be copied`, NOT_COPIED);
}
