import { Alert, Button, Group, Text } from "@mantine/core";
import { useLayoutEffect, useRef, useState } from "react";
import type { ReactNode, RefObject } from "react";

interface ChangedMeanwhileProps {
  /** Shows what is there now; what was entered is thrown away. */
  readonly show: () => void;
  /** Lets what was entered replace it. */
  readonly replace: () => void;
}

/** Above a form that was begun from what has changed meanwhile: it is not replaced before that is known. */
export function ChangedMeanwhile({ show, replace }: ChangedMeanwhileProps) {
  return (
    <Alert variant="light" title="Changed since you opened it">
      <Text fz="sm" mb="xs">
        It was saved meanwhile, by somebody else or on another page of yours. What you have entered is kept
        here, and replaces that only if you say so.
      </Text>
      <Group gap="xs">
        <Button size="xs" variant="default" onClick={show}>
          Show the newer one
        </Button>
        <Button size="xs" variant="default" onClick={replace}>
          Let mine replace it
        </Button>
      </Group>
    </Alert>
  );
}

/** What a form says of itself. */
export interface FormHandle {
  /** Whether something is entered that is not saved. */
  readonly isEntered: () => boolean;
}

/** A form that was begun from a revision. */
interface Begun<T> {
  /** What it was begun from, or saved as since then. */
  readonly begun: T;
  /** Of the form: another one begins it anew. */
  readonly key: number;
  /** To be given to the form. */
  readonly form: RefObject<FormHandle | null>;
  /** The revision that saving it replaces. */
  readonly replaces: number;
  /** Says as what it was saved: the form stays, and what was entered since it was sent. */
  readonly noteSaved: (as: T) => void;
  /** Says that it was saved elsewhere meanwhile; null: it was not. */
  readonly notice: ReactNode;
}

/**
 * What is entered stays when the same is saved elsewhere meanwhile, and replaces that only when the user says so; where nothing is entered,
 * what was saved is shown. null has the revision 0.
 */
export function useBegun<T extends { readonly revision: number } | null>(
  current: T,
  isSaving: boolean,
): Begun<T> {
  const newest = current?.revision ?? 0;
  const [begun, setBegun] = useState(current);
  const [replaces, setReplaces] = useState(newest);
  const [key, setKey] = useState(0);
  const form = useRef<FormHandle>(null);
  const noteSaved = (as: T) => {
    setBegun(as);
    setReplaces(as?.revision ?? 0);
  };
  const showSaved = () => {
    noteSaved(current);
    setKey(key + 1);
  };
  const isOutdated = newest > replaces && !isSaving;
  // Before the notice is seen.
  useLayoutEffect(() => {
    if (isOutdated && form.current?.isEntered() === false) showSaved();
  });
  return {
    begun,
    key,
    form,
    replaces,
    noteSaved,
    notice: isOutdated ? <ChangedMeanwhile show={showSaved} replace={() => setReplaces(newest)} /> : null,
  };
}
