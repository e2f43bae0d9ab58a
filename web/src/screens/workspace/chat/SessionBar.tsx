import { useQuery } from "@tanstack/react-query";
import { ChevronDown, MessageSquarePlus, Pencil, Trash2 } from "lucide-react";
import { DropdownMenu } from "radix-ui";
import { useState } from "react";
import { useIsViewer } from "@/api/account";
import { api, ask } from "@/api/client";
import { keys, refresh, sessionsQuery } from "@/api/queries";
import type { Session } from "@/api/types";
import { errorWords } from "@/api/words";
import { useLang, useT } from "@/i18n/t";
import { formatWhen } from "@/lib/format";
import { useNow } from "@/lib/now";
import { AskText } from "@/ui/ask-text";
import { Button, IconButton } from "@/ui/button";
import { cx } from "@/ui/cx";
import { Dialog } from "@/ui/dialog";
import { toastError } from "@/ui/toast";
import { useWorkspace } from "../context";

export function SessionBar() {
  const t = useT();
  const { projectId, sessionId, openSession } = useWorkspace();
  const isViewer = useIsViewer(projectId);
  const { data: sessions = [] } = useQuery(sessionsQuery(projectId));
  const current = sessions.find((session) => session.id === sessionId) ?? null;
  const [dialog, setDialog] = useState<"rename" | "delete" | null>(null);
  return (
    <header className="flex h-10 shrink-0 items-center gap-0.5 border-b border-line pr-1.5 pl-2 max-md:h-12">
      <SessionMenu sessions={sessions} current={current} onOpen={openSession} />
      <span className="flex-1" />
      {current && !isViewer && (
        <>
          <IconButton label={t("session.rename")} onClick={() => setDialog("rename")}>
            <Pencil aria-hidden />
          </IconButton>
          <IconButton label={t("session.delete")} disabled={current.active_run !== null} onClick={() => setDialog("delete")}>
            <Trash2 aria-hidden />
          </IconButton>
        </>
      )}
      {!isViewer && (
        <IconButton label={t("session.new")} onClick={() => openSession(null)}>
          <MessageSquarePlus aria-hidden />
        </IconButton>
      )}
      {current && dialog === "rename" && <Rename session={current} onClose={() => setDialog(null)} />}
      {current && dialog === "delete" && (
        <Delete
          session={current}
          onClose={() => setDialog(null)}
          onDone={() => openSession(sessions.find((session) => session.id !== current.id)?.id ?? null)}
        />
      )}
    </header>
  );
}

interface MenuProps {
  sessions: readonly Session[];
  current: Session | null;
  onOpen: (id: string) => void;
}

function SessionMenu({ sessions, current, onOpen }: MenuProps) {
  const t = useT();
  const lang = useLang();
  const now = useNow(30_000);
  const title = current ? current.title || t("session.untitled") : t("session.new");
  return (
    <DropdownMenu.Root modal={false}>
      <DropdownMenu.Trigger
        aria-label={t("session.choose", { title })}
        disabled={sessions.length === 0}
        className="flex h-8 min-w-0 items-center gap-1 rounded-lg px-2 text-sm font-medium hover:bg-sunken max-md:h-11"
      >
        <span className="truncate">{title}</span>
        {sessions.length > 0 && <ChevronDown aria-hidden className="size-4 shrink-0 text-ink-3" />}
      </DropdownMenu.Trigger>
      <DropdownMenu.Portal>
        <DropdownMenu.Content
          align="start"
          sideOffset={4}
          collisionPadding={8}
          className="animate-rise z-40 max-h-[60dvh] w-80 max-w-[calc(100vw-1rem)] overflow-y-auto rounded-xl border border-line bg-raised p-1 shadow-float"
        >
          {sessions.map((session) => (
            <DropdownMenu.Item
              key={session.id}
              onSelect={() => onOpen(session.id)}
              className={cx(
                "flex items-baseline gap-3 rounded-lg px-2.5 py-1.5 text-sm outline-none data-[highlighted]:bg-sunken max-md:py-3",
                session.id === current?.id && "font-medium text-accent",
              )}
            >
              <span className="min-w-0 flex-1 truncate">{session.title || t("session.untitled")}</span>
              <span className="shrink-0 text-xs font-normal text-ink-3">
                {session.active_run ? t("run.running") : formatWhen(session.updated_at, now, lang)}
              </span>
            </DropdownMenu.Item>
          ))}
        </DropdownMenu.Content>
      </DropdownMenu.Portal>
    </DropdownMenu.Root>
  );
}

function Rename({ session, onClose }: { session: Session; onClose: () => void }) {
  const t = useT();
  return (
    <AskText
      title={t("session.rename")}
      label={t("session.title")}
      initial={session.title}
      confirm={t("common.rename")}
      onClose={onClose}
      onConfirm={(title) =>
        ask(api.PATCH("/api/sessions/{sid}", { params: { path: { sid: session.id } }, body: { title } })).then(
          () => (refresh(keys.sessions(session.project_id)), null),
          (error: unknown) => errorWords(error, t),
        )
      }
    />
  );
}

/** A conversation has no way back, so this one asks first. */
function Delete({ session, onClose, onDone }: { session: Session; onClose: () => void; onDone: () => void }) {
  const t = useT();
  const remove = async () => {
    try {
      await ask(api.DELETE("/api/sessions/{sid}", { params: { path: { sid: session.id } } }));
      refresh(keys.sessions(session.project_id));
      onDone();
    } catch (error) {
      toastError(error);
    }
    onClose();
  };
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && onClose()}
      title={t("session.delete")}
      description={t("session.delete.text", { title: session.title || t("session.untitled") })}
    >
      <div className="flex justify-end gap-2 px-5 pt-4 pb-5">
        <Button onClick={onClose}>{t("common.cancel")}</Button>
        <Button look="danger" onClick={() => void remove()}>
          {t("common.delete")}
        </Button>
      </div>
    </Dialog>
  );
}
