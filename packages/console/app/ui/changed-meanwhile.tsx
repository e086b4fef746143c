import { Alert, Button, Group, Text } from "@mantine/core";
import { useState } from "react";
import type { ReactNode } from "react";

interface ChangedMeanwhileProps {
  /** Shows what is there now; what was entered is thrown away. */
  readonly show: () => void;
  /** Lets what was entered replace it. */
  readonly replace: () => void;
}

/** Above a form that was begun from what somebody else has changed meanwhile: it is not replaced before that is known. */
export function ChangedMeanwhile({ show, replace }: ChangedMeanwhileProps) {
  return (
    <Alert variant="light" title="Changed since you opened it">
      <Text fz="sm" mb="xs">
        Somebody else has saved meanwhile. What you have entered is kept here, and replaces theirs only if you
        say so.
      </Text>
      <Group gap="xs">
        <Button size="xs" variant="default" onClick={show}>
          Show theirs
        </Button>
        <Button size="xs" variant="default" onClick={replace}>
          Let mine replace it
        </Button>
      </Group>
    </Alert>
  );
}

/** A form that was begun from a revision. */
interface Begun<T> {
  /** What it was begun from: another one begins it anew. */
  readonly begun: T;
  /** The revision that saving it replaces. */
  readonly replaces: number;
  /** Begins it anew, e.g. from what was saved. */
  readonly begin: (from: T) => void;
  /** Says that somebody else has saved meanwhile; null: nobody has. */
  readonly notice: ReactNode;
}

/** What is entered stays when somebody else saves meanwhile, and replaces theirs only when the user says so. null has the revision 0. */
export function useBegun<T extends { readonly revision: number } | null>(
  current: T,
  isSaving: boolean,
): Begun<T> {
  const newest = current?.revision ?? 0;
  const [begun, setBegun] = useState(current);
  const [replaces, setReplaces] = useState(newest);
  const begin = (from: T) => {
    setBegun(from);
    setReplaces(from?.revision ?? 0);
  };
  const isOutdated = newest !== replaces && !isSaving;
  return {
    begun,
    replaces,
    begin,
    notice: isOutdated ? (
      <ChangedMeanwhile show={() => begin(current)} replace={() => setReplaces(newest)} />
    ) : null,
  };
}
