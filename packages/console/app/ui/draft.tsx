import { Alert, Button, Group, Text } from "@mantine/core";
import { useState } from "react";
import { useMe } from "../api/scope.tsx";
import { keepDraft, readDraft } from "../util/storage.ts";

type Values = Record<string, unknown>;

/** What is being written, and the time of what it was begun from. */
interface Draft {
  readonly since: string | null;
  readonly values: Values;
}

/** What is written on a page, kept in this tab until it is saved or thrown away. */
export interface KeptDraft {
  /** What was found when the page was opened; null: nothing, or it was thrown away. */
  readonly found: Values | null;
  /** What is entered now; null: nothing. */
  readonly entered: Values | null;
  /** Whether somebody has changed what it was begun from. */
  readonly isOutdated: boolean;
  readonly keep: (values: Values) => void;
  readonly forget: () => void;
}

/** The user's draft of something, and what to do with it. `changedAt`: when that was changed last. */
export function useDraft(of: string, changedAt: string | null): KeptDraft {
  const { id } = useMe();
  const name = `${id}.${of}`;
  const [found, setFound] = useState(() => readDraft(name) as Draft | null);
  const [entered, setEntered] = useState(found?.values ?? null);
  return {
    found: found?.values ?? null,
    entered,
    isOutdated: found !== null && found.since !== changedAt,
    keep: (values) => {
      setEntered(values);
      keepDraft(name, { since: changedAt, values } satisfies Draft);
    },
    forget: () => {
      keepDraft(name, undefined);
      setFound(null);
      setEntered(null);
    },
  };
}

/** Says that a draft was found, and lets it be thrown away. */
export function FoundDraft({ draft: { found, isOutdated, forget } }: { readonly draft: KeptDraft }) {
  if (found === null) return null;
  return (
    <Alert variant="light" title="Not saved yet">
      <Group justify="space-between">
        <Text fz="sm">
          This is what you had entered in this tab.
          {isOutdated && " It was changed since then: saving replaces that."}
        </Text>
        <Button size="xs" variant="default" onClick={forget}>
          Discard
        </Button>
      </Group>
    </Alert>
  );
}
