import { Button, Group, useComputedColorScheme } from "@mantine/core";
import { json } from "@codemirror/lang-json";
import {
  codeFolding,
  foldEffect,
  foldGutter,
  foldKeymap,
  foldService,
  HighlightStyle,
  syntaxHighlighting,
  unfoldAll,
} from "@codemirror/language";
import { openSearchPanel, search, searchKeymap } from "@codemirror/search";
import { EditorState } from "@codemirror/state";
import type { Extension } from "@codemirror/state";
import { EditorView, keymap, lineNumbers } from "@codemirror/view";
import { tags } from "@lezer/highlight";
import { useEffect, useRef } from "react";
import { copyText, NOT_COPIED } from "../ui/copy-button.tsx";
import { notifyDone, notifyFault } from "../ui/notify.ts";
import { readNonce } from "../util/nonce.ts";
import { findPointer } from "./find-pointer.ts";
import "./code-text.css";

/** The colours of highlighted.css: CodeMirror's own are too faint in dark. */
const COLORS = HighlightStyle.define([
  { tag: tags.propertyName, class: "code-name" },
  { tag: tags.string, class: "code-string" },
  { tag: tags.number, class: "code-number" },
  { tag: [tags.bool, tags.null], class: "code-word" },
]);

/** Folded at once, at most: each is an element of its own. */
const MOST_FOLDS = 5_000;

interface CodeTextProps {
  readonly text: string;
  /** As `layOutJson` gives it; null: nothing folds. */
  readonly closes: Int32Array | null;
  readonly label: string;
}

/** A text in a read-only editor: only what is seen is drawn, so that it may be long. */
export function CodeText({ text, closes, label }: CodeTextProps) {
  const place = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView>(null);
  const scheme = useComputedColorScheme();
  useEffect(() => {
    if (place.current === null) return undefined;
    const made = new EditorView({
      parent: place.current,
      state: EditorState.create({
        doc: text,
        extensions: createExtensions(closes, label, scheme === "dark"),
      }),
    });
    view.current = made;
    return () => made.destroy();
  }, [text, closes, label, scheme]);
  const act = (action: (editor: EditorView) => void) => () => {
    if (view.current !== null) action(view.current);
  };
  return (
    <div className="code-text">
      <Group gap="xs" p={6}>
        <Button size="compact-xs" variant="default" onClick={act(openSearchPanel)}>
          Find
        </Button>
        {closes !== null && (
          <>
            <Button size="compact-xs" variant="default" onClick={act((editor) => foldInner(editor, closes))}>
              Fold all
            </Button>
            <Button size="compact-xs" variant="default" onClick={act(unfoldAll)}>
              Unfold all
            </Button>
            <Button size="compact-xs" variant="default" onClick={act(copyPointer)}>
              Copy path
            </Button>
          </>
        )}
      </Group>
      <div ref={place} />
    </div>
  );
}

function createExtensions(closes: Int32Array | null, label: string, isDark: boolean): Extension {
  return [
    EditorView.cspNonce.of(readNonce()),
    EditorState.readOnly.of(true),
    EditorView.editable.of(false),
    EditorView.contentAttributes.of({ tabindex: "0", "aria-label": label }),
    EditorView.theme({}, { dark: isDark }),
    lineNumbers(),
    json(),
    syntaxHighlighting(COLORS),
    search({ top: true }),
    keymap.of([...searchKeymap, ...foldKeymap]),
    ...(closes === null ? [] : [codeFolding(), foldGutter(), foldByLines(closes)]),
  ];
}

/** The lines are known from laying the text out: the parser would have to read all of a long text first. */
function foldByLines(closes: Int32Array): Extension {
  return foldService.of((state, from, to) => {
    const close = closes[state.doc.lineAt(from).number] ?? 0;
    return close === 0 ? null : { from: to, to: endOfFold(state, close) };
  });
}

/** Before the bracket that closes. */
function endOfFold({ doc }: EditorState, close: number): number {
  const line = doc.line(close);
  return line.from + line.text.length - line.text.trimStart().length;
}

/** Folds what the outermost value has: that one alone would hide everything. */
function foldInner(view: EditorView, closes: Int32Array): void {
  const { state } = view;
  const effects = [];
  for (let at = 2; at < closes.length && effects.length < MOST_FOLDS; at += 1) {
    const close = closes[at] ?? 0;
    if (close === 0) continue;
    effects.push(foldEffect.of({ from: state.doc.line(at).to, to: endOfFold(state, close) }));
    at = close;
  }
  view.dispatch({ effects });
}

/** Of the line that the selection is on. */
function copyPointer({ state }: EditorView): void {
  const line = state.doc.lineAt(state.selection.main.head).number;
  const pointer = findPointer((number) => state.doc.line(number).text, line);
  const path = `Path ${pointer === "" ? "of the whole" : pointer}`;
  void copyText(pointer).then((isDone) =>
    isDone ? notifyDone(`${path} copied.`) : notifyFault(`${path} could not be copied`, NOT_COPIED),
  );
}
