import { Skeleton, Stack, Text } from "@mantine/core";
import { CatchBoundary } from "@tanstack/react-router";
import { lazy, Suspense } from "react";
import { isEntangled } from "./entangled.ts";

const MarkdownText = lazy(async () => ({ default: (await import("./markdown-text.tsx")).MarkdownText }));

/** Markdown of people: no raw HTML, no images from elsewhere, headings below the page's own. What cannot be parsed stands there as it is. */
export function Markdown({ text }: { readonly text: string }) {
  const plain = () => <Plain text={text} />;
  if (isEntangled(text)) return plain();
  return (
    <CatchBoundary getResetKey={() => text} errorComponent={plain}>
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
    </CatchBoundary>
  );
}

function Plain({ text }: { readonly text: string }) {
  return <Text style={{ whiteSpace: "pre-wrap", overflowWrap: "anywhere" }}>{text}</Text>;
}
