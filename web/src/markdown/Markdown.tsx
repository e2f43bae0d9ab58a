import { memo, useMemo } from "react";
import ReactMarkdown, { type Components } from "react-markdown";
import remarkGfm from "remark-gfm";
import { useT } from "@/i18n/t";
import { cx } from "@/ui/cx";
import { splitBlocks } from "./blocks";

const PLUGINS = [remarkGfm];

/** An image of a reply would tell its host who reads what: none is loaded. */
function BlockedImage({ alt }: { alt?: string | undefined }) {
  const t = useT();
  return <span className="rounded bg-sunken px-1.5 py-0.5 text-[0.88em] text-ink-3">{t("markdown.image", { alt })}</span>;
}

const COMPONENTS: Components = {
  a: ({ href, children }) => (
    <a href={href} target="_blank" rel="noopener noreferrer nofollow">
      {children}
    </a>
  ),
  img: ({ alt }) => <BlockedImage alt={alt} />,
  pre: ({ children }) => <pre tabIndex={0}>{children}</pre>,
  table: ({ children }) => (
    <div className="table" tabIndex={0}>
      <table>{children}</table>
    </div>
  ),
};

const Piece = memo(function Piece({ text }: { text: string }) {
  return (
    <ReactMarkdown remarkPlugins={PLUGINS} components={COMPONENTS}>
      {text}
    </ReactMarkdown>
  );
});

/** Markdown from anywhere: raw HTML stays text, scripts and remote images have no way in. */
export function Markdown({ text, className }: { text: string; className?: string }) {
  const blocks = useMemo(() => splitBlocks(text), [text]);
  return (
    <div className={cx("prose", className)}>
      {blocks.map((block, at) => (
        // oxlint-disable-next-line react/no-array-index-key -- pieces only ever grow at the end
        <Piece key={at} text={block} />
      ))}
    </div>
  );
}
