import { Paper, Text, Title } from "@mantine/core";
import { useEffect, useRef } from "react";
import type { ReactNode } from "react";
import "./shell.css";

/** A page before anybody has signed in: one card in the middle. */
export function Entrance({
  title,
  product,
  children,
}: {
  readonly title: string;
  readonly product: string;
  readonly children: ReactNode;
}) {
  useEffect(() => {
    document.title = `${title} · ${product}`;
  }, [title, product]);
  const main = useRef<HTMLElement>(null);
  useEffect(() => {
    // In a dialog its trap does this.
    main.current?.querySelector<HTMLElement>("[data-autofocus]")?.focus();
  }, []);
  return (
    <main className="entrance" ref={main}>
      <Text fw={700} fz={20}>
        {product}
      </Text>
      <Paper withBorder radius="md" p="xl" className="entrance-card">
        <Title order={1} fz={22} mb="lg">
          {title}
        </Title>
        {children}
      </Paper>
    </main>
  );
}
