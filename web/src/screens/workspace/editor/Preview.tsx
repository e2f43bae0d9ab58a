import { Markdown } from "@/markdown/Markdown";
import { useT } from "@/i18n/t";

const FRONT_MATTER = /^---\r?\n[\s\S]*?\r?\n---(\r?\n|$)/;

export function Preview({ text }: { text: string }) {
  const t = useT();
  return (
    <div role="region" aria-label={t("editor.preview")} tabIndex={0} className="h-full overflow-y-auto px-8 pt-12 pb-[30vh] -outline-offset-2 max-md:px-4 max-md:pt-5">
      <Markdown text={text.replace(FRONT_MATTER, "")} className="manuscript" />
    </div>
  );
}
