import type { ComponentProps } from "react";
import ReactMarkdown from "react-markdown";
import type { Components } from "react-markdown";
import rehypeSanitize from "rehype-sanitize";
import remarkGfm from "remark-gfm";

/** In a page that has its `h1`, the text's first level is the second. */
const COMPONENTS: Components = {
  h1: ({ children }) => <h2>{children}</h2>,
  h2: ({ children }) => <h3>{children}</h3>,
  h3: ({ children }) => <h4>{children}</h4>,
  h4: ({ children }) => <h5>{children}</h5>,
  h5: ({ children }) => <h6>{children}</h6>,
  a: ({ href, children }) => (
    <a href={href} rel="nofollow noreferrer ugc" target="_blank">
      {children}
    </a>
  ),
  img: ({ src, alt }) => <OutsideImage src={src} alt={alt} />,
  pre: ({ children }) => <pre tabIndex={0}>{children}</pre>,
};

/** A picture from elsewhere would tell its server who reads this: it becomes a link. */
function OutsideImage({ src, alt }: Pick<ComponentProps<"img">, "src" | "alt">) {
  if (typeof src !== "string") return null;
  return (
    <a href={src} rel="nofollow noreferrer ugc" target="_blank">
      {alt === undefined || alt === "" ? "Picture" : alt}
    </a>
  );
}

/** React elements of the text, never a string of HTML. */
export function MarkdownText({ text }: { readonly text: string }) {
  return (
    <div className="prose">
      <ReactMarkdown remarkPlugins={[remarkGfm]} rehypePlugins={[rehypeSanitize]} components={COMPONENTS}>
        {text}
      </ReactMarkdown>
    </div>
  );
}
