import {
  Clapperboard,
  FilePenLine,
  FileText,
  Folder,
  FolderOpen,
  Globe,
  ListTree,
  StickyNote,
  UserRound,
  type LucideIcon,
} from "lucide-react";
import type { Entry } from "@/api/types";
import { useT } from "@/i18n/t";

const ICONS: Record<Entry["type"], LucideIcon> = {
  folder: Folder,
  outline: ListTree,
  character: UserRound,
  lore: Globe,
  draft: FilePenLine,
  script: Clapperboard,
  snippet: StickyNote,
  document: FileText,
};

interface Props {
  id?: string;
  kind: Entry["type"];
  isExpanded: boolean;
}

/** What a file is, at a glance; its name is heard after the file's. */
export function KindIcon({ id, kind, isExpanded }: Props) {
  const t = useT();
  const label = t(`kind.${kind}`);
  const Icon = kind === "folder" && isExpanded ? FolderOpen : ICONS[kind];
  return (
    <span id={id} role="img" aria-label={label} title={label} className="shrink-0">
      <Icon aria-hidden className="size-4 text-ink-3" />
    </span>
  );
}
