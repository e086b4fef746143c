import { lazy, Suspense } from "react";
import { CopyButton } from "./copy-button.tsx";

const Highlighted = lazy(async () => ({ default: (await import("./highlighted.tsx")).Highlighted }));

/** Languages that are coloured. */
export type Language = "bash" | "python" | "javascript" | "java" | "json" | "text";

interface CodeProps {
  readonly text: string;
  readonly language: Language;
  /** What it is, for screen readers: "curl command". */
  readonly what: string;
}

/** Text of a program with its button to copy; coloured as soon as that is loaded. */
export function Code({ text, language, what }: CodeProps) {
  return (
    <div className="code-block">
      <pre tabIndex={0} role="region" aria-label={what}>
        {language === "text" ? (
          text
        ) : (
          <Suspense fallback={text}>
            <Highlighted text={text} language={language} />
          </Suspense>
        )}
      </pre>
      <CopyButton text={text} what={what} />
    </div>
  );
}
