import type { LinkProps } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { AppLink } from "./link.tsx";
import { PageHeader } from "./page-header.tsx";
import "./page-links.css";

/** The parts of the console whose pages are linked above each of them; none of their addresses has a parameter. */
type LinkedPath = Extract<LinkProps["to"], `/account${string}` | `/operator${string}`>;

/** What a page is among those that belong together. */
export interface FrameProps {
  readonly title: string;
  readonly description?: ReactNode;
  readonly actions?: ReactNode;
  readonly children: ReactNode;
}

interface LinkedPageProps extends FrameProps {
  /** What the pages are, for screen readers. */
  readonly label: string;
  readonly pages: readonly (readonly [to: LinkedPath, label: string])[];
}

/** A page with links to the pages that belong with it, which look like tabs. */
export function LinkedPage({ title, description, actions, label, pages, children }: LinkedPageProps) {
  return (
    <>
      <PageHeader title={title} description={description} actions={actions} />
      <nav aria-label={label} className="page-links">
        {pages.map(([to, name]) => (
          <AppLink
            key={to}
            to={to}
            className="page-link"
            underline="never"
            activeProps={{ "aria-current": "page" }}
          >
            {name}
          </AppLink>
        ))}
      </nav>
      {children}
    </>
  );
}
