import { Tabs } from "@mantine/core";
import type { ReactNode } from "react";

interface ChoiceTabsProps {
  readonly label: string;
  readonly choices: readonly { readonly label: string; readonly content: () => ReactNode }[];
}

/** Small tabs for ways to say the same, e.g. languages of an example; not in the URL. */
export function ChoiceTabs({ label, choices }: ChoiceTabsProps) {
  return (
    <Tabs defaultValue="0" variant="pills" keepMounted={false}>
      <Tabs.List aria-label={label} mb="xs">
        {choices.map(({ label: words }, place) => (
          <Tabs.Tab key={words} value={String(place)} py={6}>
            {words}
          </Tabs.Tab>
        ))}
      </Tabs.List>
      {choices.map(({ label: words, content }, place) => (
        <Tabs.Panel key={words} value={String(place)}>
          {content()}
        </Tabs.Panel>
      ))}
    </Tabs>
  );
}
