import { Box } from "@mantine/core";
import { Fragment, useState } from "react";
import type { ReactNode } from "react";
import { useMe } from "../api/scope.tsx";
import { FoundInput } from "../ui/draft.tsx";
import { keepDraft, readDraft } from "../util/storage.ts";

/** What a form of an input begins with. */
export interface KeptText {
  /** JSON text of a start's body. */
  readonly first: string;
  /** Gets the text whenever it changes, and keeps it. */
  readonly keep: (text: string) => void;
}

interface KeptInputProps {
  /** What it is the input of. */
  readonly of: string;
  /** The text where nothing was entered. */
  readonly origin: string;
  readonly children: (begun: KeptText) => ReactNode;
}

/** An input that the user has entered in this tab, until the tab is closed: it is there again after another version, a run or a reload. */
export function KeptInput({ of, origin, children }: KeptInputProps) {
  const { id } = useMe();
  const name = `${id}.try.${of}`;
  const [kept, setKept] = useState(() => readDraft(name));
  const isFound = typeof kept === "string" && kept !== origin;
  const discard = () => {
    keepDraft(name, null);
    setKept(null);
  };
  return (
    <>
      {isFound && (
        <Box mb="md">
          <FoundInput discard={discard} />
        </Box>
      )}
      <Fragment key={isFound ? "kept" : "origin"}>
        {children({
          first: isFound ? kept : origin,
          keep: (text) => keepDraft(name, text === origin ? null : text),
        })}
      </Fragment>
    </>
  );
}
