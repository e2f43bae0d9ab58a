import { Keyboard, Search } from "lucide-react";
import { useT } from "@/i18n/t";
import { keyWords } from "@/lib/hotkeys";
import { TopBar } from "@/screens/TopBar";
import { IconButton } from "@/ui/button";
import { ExportMenu } from "./ExportMenu";
import { MembersButton, ViewerMark } from "./MembersButton";
import { RunPill } from "./RunPill";

interface Props {
  title: string;
  onPalette: () => void;
  onShortcuts: () => void;
}

export function Header({ title, onPalette, onShortcuts }: Props) {
  const t = useT();
  return (
    <TopBar isCrowded>
      <span className="min-w-0 truncate font-serif text-[17px] font-semibold" title={title}>
        {title}
      </span>
      <ViewerMark />
      <span className="flex-1" />
      <RunPill />
      <button
        type="button"
        onClick={onPalette}
        className="flex h-8 items-center gap-2 rounded-lg border border-line px-2.5 text-[13px] text-ink-3 transition-colors hover:border-line-2 hover:text-ink-2 max-md:hidden"
      >
        <Search aria-hidden className="size-3.5" />
        {t("palette.open")}
        <kbd className="font-sans text-xs">{keyWords("mod+P")}</kbd>
      </button>
      <ExportMenu />
      <MembersButton title={title} />
      <IconButton label={t("shortcuts.title")} keys={keyWords("mod+/")} onClick={onShortcuts} className="max-md:hidden">
        <Keyboard aria-hidden />
      </IconButton>
    </TopBar>
  );
}
