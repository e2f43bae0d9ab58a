import { useT, type Key } from "@/i18n/t";
import { keyWords } from "@/lib/hotkeys";
import { Dialog } from "@/ui/dialog";

const SHEET: readonly (readonly [string, Key])[] = [
  ["mod+P", "palette.open"],
  ["mod+S", "shortcuts.save"],
  ["mod+F", "shortcuts.find"],
  ["mod+shift+F", "found.title"],
  ["mod+B", "shortcuts.files"],
  ["mod+J", "shortcuts.chat"],
  ["mod+/", "shortcuts.title"],
  ["mod+shift+H", "versions.title"],
  ["F7", "shortcuts.next"],
  ["Y", "shortcuts.accept"],
  ["N", "shortcuts.reject"],
  ["shift+Y", "shortcuts.accept_all"],
  ["shift+N", "shortcuts.reject_all"],
  ["Enter", "shortcuts.send"],
  ["Shift+Enter", "shortcuts.newline"],
  ["↑", "shortcuts.edit"],
  ["Esc", "shortcuts.stop"],
  ["alt+N", "tree.new_file"],
  ["alt+M", "tree.new_folder"],
  ["alt+I", "import.open"],
  ["alt+↑", "tree.up"],
  ["alt+↓", "tree.down"],
  ["F2", "common.rename"],
  ["F6", "tree.move"],
  ["Delete", "common.delete"],
];

export function Shortcuts({ onClose }: { onClose: () => void }) {
  const t = useT();
  return (
    <Dialog open onOpenChange={(open) => !open && onClose()} title={t("shortcuts.title")}>
      <dl tabIndex={0} className="grid grid-cols-[1fr_auto] gap-y-2 overflow-y-auto px-5 pt-3 pb-5 text-sm">
        {SHEET.map(([keys, what]) => (
          <div key={keys} className="contents">
            <dt>{t(what)}</dt>
            <dd>
              <kbd className="rounded-md border border-line-2 bg-surface px-1.5 py-0.5 font-sans text-xs text-ink-2">
                {keyWords(keys)}
              </kbd>
            </dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}
