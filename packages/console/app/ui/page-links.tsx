import type { ReactNode } from "react";
import "./page-links.css";

/** Links to the pages that belong together, with the look of tabs. Children are `AppLink`s with `PAGE_LINK`. */
export function PageLinks({ label, children }: { readonly label: string; readonly children: ReactNode }) {
  return (
    <nav aria-label={label} className="page-links">
      {children}
    </nav>
  );
}

/** What each link of `PageLinks` has. */
export const PAGE_LINK = {
  className: "page-link",
  underline: "never",
  activeProps: { "aria-current": "page" },
} as const;
