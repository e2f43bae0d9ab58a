import { FileText, FolderTree, MessageSquareText } from "lucide-react";
import { Tabs } from "radix-ui";
import type { ReactNode } from "react";
import { useT } from "@/i18n/t";
import { activeRun } from "@/run/selectors";
import { useRuns } from "@/run/store";
import { Chat } from "./chat/Chat";
import { EditorPane } from "./EditorPane";
import { SidePane } from "./SidePane";

const TABS = ["files", "editor", "chat"] as const;
export type Tab = (typeof TABS)[number];

const ICONS: Record<Tab, ReactNode> = {
  files: <FolderTree aria-hidden />,
  editor: <FileText aria-hidden />,
  chat: <MessageSquareText aria-hidden />,
};

export function Mobile({ tab, onTab }: { tab: Tab; onTab: (tab: Tab) => void }) {
  const t = useT();
  const isRunning = useRuns((state) => activeRun(state.thread) !== null);
  return (
    <Tabs.Root value={tab} onValueChange={(value) => onTab(value as Tab)} className="flex h-full flex-col">
      <Pane tab="files">
        <SidePane />
      </Pane>
      <Pane tab="editor">
        <EditorPane />
      </Pane>
      <Pane tab="chat">
        <Chat />
      </Pane>
      <Tabs.List
        aria-label={t("workspace.panes")}
        className="grid shrink-0 grid-cols-3 border-t border-line bg-raised pb-[env(safe-area-inset-bottom)]"
      >
        {TABS.map((each) => (
          <Tabs.Trigger
            key={each}
            value={each}
            className="relative flex h-14 flex-col items-center justify-center gap-0.5 text-xs text-ink-2 -outline-offset-2 data-[state=active]:text-accent [&_svg]:size-5"
          >
            {ICONS[each]}
            {t(`workspace.tab.${each}`)}
            {each === "chat" && isRunning && (
              <span className="animate-dot absolute top-2 ml-7 size-2 rounded-full bg-accent">
                <span className="sr-only">{t("run.running")}</span>
              </span>
            )}
          </Tabs.Trigger>
        ))}
      </Tabs.List>
    </Tabs.Root>
  );
}

/** All panes stay mounted: a draft, a caret and a scroll position outlive a change of tab. */
function Pane({ tab, children }: { tab: Tab; children: ReactNode }) {
  return (
    <Tabs.Content
      value={tab}
      forceMount
      tabIndex={-1}
      className="min-h-0 flex-1 border-t border-line outline-none data-[state=inactive]:hidden"
    >
      {children}
    </Tabs.Content>
  );
}
