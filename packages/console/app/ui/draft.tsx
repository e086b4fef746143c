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
  /** Of the form: another one begins anew, with what was entered or else with what is saved. */
  readonly key: string;
  /** What is entered; null: nothing. */
  readonly entered: Values | null;
  /** Whether it was found when the page was opened. */
  readonly isFound: boolean;
  /** Whether somebody has changed what it was begun from. */
  readonly isOutdated: boolean;
  readonly keep: (values: Values) => void;
  readonly forget: () => void;
}

/** The user's draft of something, and what to do with it. `changedAt`: when that was changed last. */
export function useDraft(of: string, changedAt: string | null): KeptDraft {
  const { id } = useMe();
  const name = `${id}.${of}`;
  const [draft, setDraft] = useState(() => readDraft(name) as Draft | null);
  const [isFound, setIsFound] = useState(draft !== null);
  const [forgotten, setForgotten] = useState(0);
  // What is being written stays when somebody else saves; a form in which nothing is entered shows what they have saved.
  const [shown, setShown] = useState(changedAt);
  if (draft === null && shown !== changedAt) setShown(changedAt);
  return {
    key: `${shown} ${forgotten}`,
    entered: draft?.values ?? null,
    isFound: isFound && draft !== null,
    isOutdated: draft !== null && draft.since !== changedAt,
    keep: (values) => {
      const next = { since: draft === null ? changedAt : draft.since, values } satisfies Draft;
      setDraft(next);
      keepDraft(name, next);
    },
    forget: () => {
      keepDraft(name, undefined);
      setDraft(null);
      setIsFound(false);
      setForgotten(forgotten + 1);
    },
  };
}

/** Says that a draft was found, or that somebody else has saved meanwhile, and lets it be thrown away. */
export function FoundDraft({ draft: { isFound, isOutdated, forget } }: { readonly draft: KeptDraft }) {
  if (!isFound && !isOutdated) return null;
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
