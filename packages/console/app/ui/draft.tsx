import { Alert, Button, Group, Text } from "@mantine/core";
import { useState, useSyncExternalStore } from "react";
import { flushSync } from "react-dom";
import { useMe } from "../api/scope.tsx";
import { followDrafts, keepDraft, readDraft } from "../util/storage.ts";
import { ChangedMeanwhile } from "./changed-meanwhile.tsx";

type Values = Record<string, unknown>;

/** What is being written, and the revision that it was begun from. */
interface Draft {
  readonly since: number;
  readonly values: Values;
}

/** What is written on a page, kept in this tab until it is saved or thrown away. */
export interface KeptDraft {
  /** Of the form: another one begins anew, with what was entered or else with what is saved. */
  readonly key: number;
  /** What is entered; null: nothing. */
  readonly entered: Values | null;
  /** Whether it was found when the page was opened. */
  readonly isFound: boolean;
  /** Whether somebody has changed what it was begun from. */
  readonly isOutdated: boolean;
  /** The revision that is replaced when it is saved. */
  readonly replaces: number;
  readonly keep: (values: Values) => void;
  readonly forget: () => void;
  /** Forgets what was saved, as this revision; what was entered while it was sent is not saved yet, and stays. */
  readonly noteSaved: (values: Values, revision: number) => void;
  /** Says that what was changed meanwhile is known, and to be replaced. */
  readonly replaceOther: () => void;
}

/** The user's draft of something, and what to do with it. `revision`: the newest one of that. */
export function useDraft(of: string, revision: number): KeptDraft {
  const { id } = useMe();
  const name = `${id}.${of}`;
  // Also what another form of the same has kept, or its save that was still on its way, has made of it.
  const draft = useSyncExternalStore(followDrafts, () => readDraft(name)) as Draft | null;
  const [isFound, setIsFound] = useState(draft !== null);
  if (isFound && draft === null) setIsFound(false);
  const [key, setKey] = useState(0);
  // What is being written stays when somebody else saves; a form in which nothing is entered shows what they have saved.
  const [shown, setShown] = useState(revision);
  if (draft === null && revision > shown) {
    setShown(revision);
    setKey(key + 1);
  }
  const put = (next: Draft) => keepDraft(name, next);
  const forget = () => {
    keepDraft(name, null);
    setKey(key + 1);
  };
  return {
    key,
    entered: draft?.values ?? null,
    isFound,
    isOutdated: draft !== null && draft.since < revision,
    replaces: draft?.since ?? revision,
    keep: (values) => put({ since: draft?.since ?? revision, values }),
    replaceOther: () => {
      if (draft !== null) put({ ...draft, since: revision });
    },
    forget,
    noteSaved: (values, saved) => {
      // Not the draft of the time when it was sent.
      const present = readDraft(name) as Draft | null;
      if (present !== null && JSON.stringify(present.values) !== JSON.stringify(values))
        return put({ ...present, since: saved });
      // The form shows it already.
      flushSync(() => setShown(saved));
      return keepDraft(name, null);
    },
  };
}

/** Says that a draft was found, or that somebody else has saved meanwhile, and lets it be thrown away. */
export function FoundDraft({ draft }: { readonly draft: KeptDraft }) {
  const { isFound, isOutdated, forget, replaceOther } = draft;
  if (isOutdated) return <ChangedMeanwhile show={forget} replace={replaceOther} />;
  if (!isFound) return null;
  return <FoundInput title="Not saved yet" discard={forget} />;
}

interface FoundInputProps {
  readonly title?: string;
  readonly discard: () => void;
}

/** Says that a form begins with what was entered before, and lets that be thrown away. */
export function FoundInput({ title, discard }: FoundInputProps) {
  return (
    <Alert variant="light" title={title}>
      <Group justify="space-between">
        <Text fz="sm" c="var(--mantine-color-text)">
          This is what you had entered in this tab.
        </Text>
        <Button size="xs" variant="default" onClick={discard}>
          Discard
        </Button>
      </Group>
    </Alert>
  );
}
