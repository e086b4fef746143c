import { LinkedPage } from "../../ui/page-links.tsx";
import type { FrameProps } from "../../ui/page-links.tsx";
import { OPERATOR_PAGES } from "./operator-pages.ts";

/** What the pages of those who run the platform share. */
export function OperatorFrame(page: FrameProps) {
  return <LinkedPage label="Operator" pages={OPERATOR_PAGES} {...page} />;
}
