import { Button, Group, Skeleton, Text } from "@mantine/core";
import { lazy, Suspense, useDeferredValue, useEffect, useState } from "react";
import { saveText } from "../ui/save.ts";
import { CopyButton } from "../ui/copy-button.tsx";
import { layOutJson } from "../util/exact-json.ts";
import type { LaidOutJson } from "../util/exact-json.ts";
import { formatBytes } from "../util/units.ts";

const CodeText = lazy(async () => ({ default: (await import("./code-text.tsx")).CodeText }));

/** Texts up to so many bytes are shown without being asked for. */
export const SHOWN_BYTES = 1_048_576;

interface JsonViewProps {
  /** As the platform has it: it is laid out, and no digit of it is changed. */
  readonly text: string;
  /** What it is, for screen readers: "Result". */
  readonly what: string;
  /** Of the file that it is saved as. */
  readonly fileName: string;
}

/** JSON of people, with its digits as they are: folded, searched, copied and saved. */
export function JsonView({ text, what, fileName }: JsonViewProps) {
  const shown = useDeferredValue(text);
  const laidOut = useLaidOut(shown);
  const [isPlain, setIsPlain] = useState(false);
  return (
    <div>
      <Group gap="xs" mb="xs" justify="flex-end">
        <Text fz="sm" c="dimmed" mr="auto">
          {formatBytes(new Blob([text]).size)}
        </Text>
        <CopyButton text={text} what={what.toLowerCase()} label="Copy" />
        <Button
          size="compact-sm"
          variant="default"
          onClick={() => saveText(fileName, text, "application/json")}
        >
          Download
        </Button>
        {text.length <= SHOWN_BYTES && (
          <Button
            size="compact-sm"
            variant="default"
            aria-pressed={isPlain}
            onClick={() => setIsPlain(!isPlain)}
          >
            Plain text
          </Button>
        )}
      </Group>
      {isPlain ? (
        <pre className="plain-text" tabIndex={0} role="region" aria-label={what}>
          {laidOut?.text ?? text}
        </pre>
      ) : laidOut === undefined ? (
        <Skeleton h={240} />
      ) : (
        <Suspense fallback={<Skeleton h={240} />}>
          <CodeText text={laidOut?.text ?? text} closes={laidOut?.closes ?? null} label={what} />
        </Suspense>
      )}
    </div>
  );
}

/** undefined: not yet; null: it is no JSON, or is too deep, and is shown as it is. */
function useLaidOut(text: string): LaidOutJson | null | undefined {
  const [done, setDone] = useState<{ readonly of: string; readonly as: LaidOutJson | null }>();
  useEffect(() => {
    const gone = new AbortController();
    const pause = () => new Promise<void>((resolve) => setTimeout(resolve));
    const layOut = async () => {
      const as = await layOutJson(text, pause);
      if (!gone.signal.aborted) setDone({ of: text, as });
    };
    void layOut();
    return () => gone.abort();
  }, [text]);
  return done?.of === text ? done.as : undefined;
}
