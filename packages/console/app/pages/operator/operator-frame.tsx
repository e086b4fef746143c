import { LinkedPage } from "../../ui/page-links.tsx";
import type { FrameProps } from "../../ui/page-links.tsx";

const PAGES = [
  ["/operator", "Health"],
  ["/operator/activity", "Activity"],
  ["/operator/workers", "Workers"],
  ["/operator/storage", "Storage"],
  ["/operator/users", "Users"],
  ["/operator/organizations", "Organisations"],
  ["/operator/settings", "Settings"],
] as const;

/** What the pages of those who run the platform share. */
export function OperatorFrame(page: FrameProps) {
  return <LinkedPage label="Operator" pages={PAGES} {...page} />;
}
