import { useMe } from "../../api/scope.tsx";
import { LinkedPage } from "../../ui/page-links.tsx";
import type { FrameProps } from "../../ui/page-links.tsx";

const PAGES = [
  ["/account", "Profile"],
  ["/account/tokens", "Tokens"],
  ["/account/sessions", "Sessions"],
] as const;

/** What the pages of the user's own account share. */
export function AccountFrame(page: FrameProps) {
  const { email } = useMe();
  return <LinkedPage label="Account" pages={PAGES} description={email} {...page} />;
}
