import { Tabs } from "@mantine/core";
import type { ReactNode } from "react";

interface ChoiceTabsProps {
  readonly label: string;
  readonly choices: readonly { readonly label: string; readonly content: () => ReactNode }[];
}

/** Small tabs for ways to say the same, e.g. languages of an example; not in the URL. */
export function ChoiceTabs({ label, choices }: ChoiceTabsProps) {
  return (
    <Tabs defaultValue={choices[0]?.label ?? ""} variant="pills" keepMounted={false}>
      <Tabs.List aria-label={label} mb="xs">
        {choices.map(({ label: words }) => (
          <Tabs.Tab key={words} value={words} py={6}>
            {words}
          </Tabs.Tab>
        ))}
      </Tabs.List>
      {choices.map(({ label: words, content }) => (
        <Tabs.Panel key={words} value={words}>
          {content()}
        </Tabs.Panel>
      ))}
    </Tabs>
  );
}
