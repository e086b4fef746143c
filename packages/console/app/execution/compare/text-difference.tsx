import { useComputedColorScheme } from "@mantine/core";
import { MergeView } from "@codemirror/merge";
import { EditorState } from "@codemirror/state";
import { EditorView } from "@codemirror/view";
import { useEffect, useRef } from "react";
import { readNonce } from "../../util/nonce.ts";
import "../code-text.css";

interface TextDifferenceProps {
  readonly before: string;
  readonly after: string;
  readonly label: string;
}

/** Bounds the search for differences: two long texts that have nothing in common would take seconds. */
const DIFF = { scanLimit: 500, timeout: 500 };

/** Two texts side by side; what is the same is folded. */
export function TextDifference({ before, after, label }: TextDifferenceProps) {
  const place = useRef<HTMLDivElement>(null);
  const scheme = useComputedColorScheme();
  useEffect(() => {
    if (place.current === null) return undefined;
    const extensionsOf = (which: string) => [
      EditorView.cspNonce.of(readNonce()),
      EditorState.readOnly.of(true),
      EditorView.editable.of(false),
      EditorView.lineWrapping,
      EditorView.contentAttributes.of({ tabindex: "0", "aria-label": `${label} of the ${which}` }),
      EditorView.theme({}, { dark: scheme === "dark" }),
    ];
    const view = new MergeView({
      a: { doc: before, extensions: extensionsOf("first") },
      b: { doc: after, extensions: extensionsOf("second") },
      parent: place.current,
      collapseUnchanged: { margin: 2, minSize: 6 },
      diffConfig: DIFF,
      gutter: true,
    });
    return () => view.destroy();
  }, [before, after, label, scheme]);
  return <div className="code-text" ref={place} />;
}
