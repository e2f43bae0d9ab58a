import { useEffect } from "react";
import { Group, Panel, Separator, useDefaultLayout, usePanelRef, type PanelImperativeHandle } from "react-resizable-panels";
import { useT } from "@/i18n/t";
import { useHotkeys } from "@/lib/hotkeys";
import { Chat } from "./chat/Chat";
import { useWorkspace } from "./context";
import { EditorPane } from "./EditorPane";
import { onAsked } from "./find/store";
import { SidePane } from "./SidePane";

const EDGE =
  "relative w-px bg-line outline-none transition-colors before:absolute before:inset-y-0 before:-inset-x-1 data-[separator=hover]:bg-accent data-[separator=active]:bg-accent focus-visible:bg-accent focus-visible:shadow-[0_0_0_1px_var(--accent)]";

/** The three panes, their sizes kept per project. */
export function Desk() {
  const t = useT();
  const { projectId } = useWorkspace();
  const files = usePanelRef();
  const chat = usePanelRef();
  const layout = useDefaultLayout({ id: `wenfang.panes.${projectId}`, storage: localStorage });
  useEffect(() => onAsked(() => files.current?.expand()), [files]); // what was asked for is to be seen
  useHotkeys({
    "mod+B": () => toggle(files.current),
    "mod+J": () => toggle(chat.current),
  });
  return (
    <Group className="border-t border-line" {...layout}>
      <Panel id="files" panelRef={files} collapsible minSize={180} defaultSize={240} groupResizeBehavior="preserve-pixel-size">
        <SidePane />
      </Panel>
      <Separator aria-label={t("workspace.resize.files")} className={EDGE} />
      <Panel id="editor" minSize={320}>
        <EditorPane />
      </Panel>
      <Separator aria-label={t("workspace.resize.chat")} className={EDGE} />
      <Panel id="chat" panelRef={chat} collapsible minSize={300} defaultSize={420} groupResizeBehavior="preserve-pixel-size">
        <Chat />
      </Panel>
    </Group>
  );
}

function toggle(panel: PanelImperativeHandle | null): void {
  if (panel?.isCollapsed()) panel.expand();
  else panel?.collapse();
}
