import { Tabs } from "@mantine/core";
import { useSearch } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { useSetSearch } from "./dialog.tsx";

/** A tab of a page. */
export interface PageTab {
  /** Its word in the URL (`?tab=`). */
  readonly id: string;
  readonly label: ReactNode;
  /** A letter that opens it, besides its number. */
  readonly shortcut?: string;
  readonly content: () => ReactNode;
}

/** Tabs of the URL: the first one needs no parameter. */
export function RoutedTabs({ tabs, label }: { readonly tabs: readonly PageTab[]; readonly label: string }) {
  const { tab }: { readonly tab?: string } = useSearch({ strict: false });
  const setSearch = useSetSearch();
  const first = tabs[0]?.id ?? "";
  const current = tabs.some(({ id }) => id === tab) ? (tab ?? first) : first;
  return (
    <Tabs
      value={current}
      onChange={(id) => setSearch({ tab: id === first || id === null ? undefined : id })}
      keepMounted={false}
    >
      <Tabs.List aria-label={label} mb="md">
        {tabs.map(({ id, label: words, shortcut = "" }, index) => (
          <Tabs.Tab key={id} value={id} aria-keyshortcuts={`${index + 1} ${shortcut}`.trim()}>
            {words}
          </Tabs.Tab>
        ))}
      </Tabs.List>
      {tabs.map(({ id, content }) => (
        <Tabs.Panel key={id} value={id}>
          {content()}
        </Tabs.Panel>
      ))}
    </Tabs>
  );
}
