import { Alert, Button, Group, Text } from "@mantine/core";
import { useState } from "react";
import { useMe } from "../api/scope.tsx";
import { keepDraft, readDraft } from "../util/storage.ts";
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
  readonly key: string;
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
  /** Says that what was changed meanwhile is known, and to be replaced. */
  readonly replaceOther: () => void;
}

/** The user's draft of something, and what to do with it. `revision`: the newest one of that. */
export function useDraft(of: string, revision: number): KeptDraft {
  const { id } = useMe();
  const name = `${id}.${of}`;
  const [draft, setDraft] = useState(() => readDraft(name) as Draft | null);
  const [isFound, setIsFound] = useState(draft !== null);
  const [forgotten, setForgotten] = useState(0);
  // What is being written stays when somebody else saves; a form in which nothing is entered shows what they have saved.
  const [shown, setShown] = useState(revision);
  if (draft === null && shown !== revision) setShown(revision);
  const put = (next: Draft) => {
    setDraft(next);
    keepDraft(name, next);
  };
  return {
    key: `${shown} ${forgotten}`,
    entered: draft?.values ?? null,
    isFound: isFound && draft !== null,
    isOutdated: draft !== null && draft.since !== revision,
    replaces: draft?.since ?? revision,
    keep: (values) => put({ since: draft?.since ?? revision, values }),
    replaceOther: () => {
      if (draft !== null) put({ ...draft, since: revision });
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
export function FoundDraft({ draft }: { readonly draft: KeptDraft }) {
  const { isFound, isOutdated, forget, replaceOther } = draft;
  if (isOutdated) return <ChangedMeanwhile show={forget} replace={replaceOther} />;
  if (!isFound) return null;
  return (
    <Alert variant="light" title="Not saved yet">
      <Group justify="space-between">
        <Text fz="sm">This is what you had entered in this tab.</Text>
        <Button size="xs" variant="default" onClick={forget}>
          Discard
        </Button>
      </Group>
    </Alert>
  );
}
