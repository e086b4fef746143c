import { Tabs } from "@mantine/core";
import type { ReactNode } from "react";
import { KINDS } from "../../execution/kinds.ts";
import { useSetSearch } from "../../ui/dialog.tsx";

interface KindTabsProps {
  readonly kind: keyof typeof KINDS | undefined;
  readonly children: ReactNode;
}

/** All executions, or those of one kind; of the URL. */
export function KindTabs({ kind, children }: KindTabsProps) {
  const setSearch = useSetSearch();
  const current = kind ?? "all";
  return (
    <Tabs
      value={current}
      onChange={(value) => setSearch({ kind: value === "all" ? undefined : value }, "push")}
      keepMounted={false}
    >
      <Tabs.List aria-label="Kinds of executions" mb="md">
        <Tabs.Tab value="all">All</Tabs.Tab>
        {Object.entries(KINDS).map(([value, { tab }]) => (
          <Tabs.Tab key={value} value={value}>
            {tab}
          </Tabs.Tab>
        ))}
      </Tabs.List>
      {["all", ...Object.keys(KINDS)].map((value) => (
        <Tabs.Panel key={value} value={value}>
          {value === current && children}
        </Tabs.Panel>
      ))}
    </Tabs>
  );
}
