import { Skeleton, Stack } from "@mantine/core";
import { lazy, Suspense } from "react";

const MarkdownText = lazy(async () => ({ default: (await import("./markdown-text.tsx")).MarkdownText }));

/** Markdown of people: no raw HTML, no images from elsewhere, headings below the page's own. */
export function Markdown({ text }: { readonly text: string }) {
  return (
    <Suspense
      fallback={
        <Stack gap="xs" aria-hidden>
          <Skeleton h={16} w="60%" />
          <Skeleton h={16} w="90%" />
          <Skeleton h={16} w="80%" />
        </Stack>
      }
    >
      <MarkdownText text={text} />
    </Suspense>
  );
}
