import type { ReactNode } from "react";
import { useMe } from "../../api/scope.tsx";
import { AppLink } from "../../ui/link.tsx";
import { PageHeader } from "../../ui/page-header.tsx";
import { PAGE_LINK, PageLinks } from "../../ui/page-links.tsx";

interface AccountFrameProps {
  readonly title: string;
  readonly description?: ReactNode;
  readonly actions?: ReactNode;
  readonly children: ReactNode;
}

const EXACT = { exact: true, includeSearch: false } as const;

/** What the pages of the user's own account share. */
export function AccountFrame({ title, description, actions, children }: AccountFrameProps) {
  const { email } = useMe();
  return (
    <>
      <PageHeader title={title} description={description ?? email} actions={actions} />
      <PageLinks label="Account">
        <AppLink to="/account" activeOptions={EXACT} {...PAGE_LINK}>
          Profile
        </AppLink>
        <AppLink to="/account/tokens" {...PAGE_LINK}>
          Tokens
        </AppLink>
        <AppLink to="/account/sessions" {...PAGE_LINK}>
          Sessions
        </AppLink>
      </PageLinks>
      {children}
    </>
  );
}
