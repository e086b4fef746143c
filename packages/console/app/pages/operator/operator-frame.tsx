import type { ReactNode } from "react";
import { AppLink } from "../../ui/link.tsx";
import { PageHeader } from "../../ui/page-header.tsx";
import { PAGE_LINK, PageLinks } from "../../ui/page-links.tsx";

interface OperatorFrameProps {
  readonly title: string;
  readonly description: ReactNode;
  readonly actions?: ReactNode;
  readonly children: ReactNode;
}

const PAGES = [
  ["/operator", "Health"],
  ["/operator/activity", "Activity"],
  ["/operator/workers", "Workers"],
  ["/operator/storage", "Storage"],
  ["/operator/users", "Users"],
  ["/operator/organizations", "Organisations"],
  ["/operator/settings", "Settings"],
] as const;
const EXACT = { exact: true, includeSearch: false } as const;

/** What the pages of those who run the platform share. */
export function OperatorFrame({ title, description, actions, children }: OperatorFrameProps) {
  return (
    <>
      <PageHeader title={title} description={description} actions={actions} />
      <PageLinks label="Operator">
        {PAGES.map(([to, label]) => (
          <AppLink key={to} to={to} activeOptions={EXACT} {...PAGE_LINK}>
            {label}
          </AppLink>
        ))}
      </PageLinks>
      {children}
    </>
  );
}
