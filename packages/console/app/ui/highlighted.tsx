import highlighter from "highlight.js/lib/core";
import bash from "highlight.js/lib/languages/bash";
import java from "highlight.js/lib/languages/java";
import javascript from "highlight.js/lib/languages/javascript";
import json from "highlight.js/lib/languages/json";
import python from "highlight.js/lib/languages/python";
import type { Language } from "./code.tsx";
import "./highlighted.css";

highlighter.registerLanguage("bash", bash);
highlighter.registerLanguage("java", java);
highlighter.registerLanguage("javascript", javascript);
highlighter.registerLanguage("json", json);
highlighter.registerLanguage("python", python);

/** The lines of a program in colours. The highlighter escapes what it is given. */
export function Highlighted({
  text,
  language,
}: {
  readonly text: string;
  readonly language: Exclude<Language, "text">;
}) {
  const { value } = highlighter.highlight(text, { language });
  return <code dangerouslySetInnerHTML={{ __html: value }} />;
}
