import { Link } from "@tanstack/react-router";
import { Ellipsis, Pencil, Trash2, Users } from "lucide-react";
import { Suspense, useRef, useState } from "react";
import { useSelf } from "@/api/account";
import { api, ask } from "@/api/client";
import { keys, refresh } from "@/api/queries";
import type { Project } from "@/api/types";
import { errorWords } from "@/api/words";
import { useLang, useT } from "@/i18n/t";
import { formatBytes, formatWhen } from "@/lib/format";
import { late } from "@/lib/late";
import { AskText } from "@/ui/ask-text";
import { IconButton } from "@/ui/button";
import { Menu } from "@/ui/menu";
import { toastError, toastUndo } from "@/ui/toast";

const Members = late(() => import("./Members").then((module) => module.Members));

export function ProjectCard({ project, now }: { project: Project; now: number }) {
  const t = useT();
  const lang = useLang();
  const { hasAccounts } = useSelf();
  const more = useRef<HTMLButtonElement>(null);
  const [renaming, setRenaming] = useState(false);
  const [areMembersOpen, setMembersOpen] = useState(false);
  const members = { label: t("members.title"), icon: <Users aria-hidden />, onSelect: () => setMembersOpen(true) };
  return (
    <article className="group relative rounded-xl border border-line bg-surface transition-[border-color,box-shadow] focus-within:border-line-2 hover:border-line-2 hover:shadow-float">
      <Link
        to="/p/$pid"
        params={{ pid: project.id }}
        className="block rounded-xl px-5 pt-4 pb-4"
        aria-describedby={`about-${project.id}`}
      >
        <span className="block truncate pr-8 font-serif text-lg font-semibold">{project.title}</span>
      </Link>
      <div id={`about-${project.id}`} className="pointer-events-none -mt-3 px-5 pb-4 text-[13px] text-ink-3">
        <p className="tabular">
          {project.words === null ? formatBytes(project.size_bytes) : t("projects.words", { n: project.words })}
          <span aria-hidden className="mx-1.5">
            ·
          </span>
          {t("projects.files", { n: project.files })}
        </p>
        <p className="mt-5 flex items-center gap-2">
          {project.running > 0 ? (
            <>
              <span aria-hidden className="animate-dot size-2 rounded-full bg-accent" />
              <span className="text-accent">{t("projects.running")}</span>
            </>
          ) : (
            formatWhen(project.updated_at, now, lang)
          )}
        </p>
      </div>
      <div className="absolute top-3 right-2">
        <Menu
          keepFocus={renaming || areMembersOpen}
          items={[
            { label: t("common.rename"), icon: <Pencil aria-hidden />, onSelect: () => setRenaming(true) },
            ...(hasAccounts ? [members] : []),
            {
              label: t("common.delete"),
              icon: <Trash2 aria-hidden />,
              danger: true,
              onSelect: () => void remove(project, t("projects.deleted", { title: project.title })),
            },
          ]}
        >
          <IconButton ref={more} label={t("projects.more", { title: project.title })}>
            <Ellipsis aria-hidden />
          </IconButton>
        </Menu>
      </div>
      <Suspense>
        {areMembersOpen && (
          <Members projectId={project.id} title={project.title} opener={() => more.current} onClose={() => setMembersOpen(false)} />
        )}
      </Suspense>
      {renaming && (
        <AskText
          title={t("projects.rename")}
          label={t("projects.new.label")}
          initial={project.title}
          confirm={t("common.rename")}
          onClose={() => setRenaming(false)}
          onConfirm={(title) =>
            ask(api.PATCH("/api/projects/{pid}", { params: { path: { pid: project.id } }, body: { title } })).then(
              () => (refresh(keys.projects), null),
              (error: unknown) => errorWords(error, t),
            )
          }
        />
      )}
    </article>
  );
}

async function remove(project: Project, message: string): Promise<void> {
  const at = { params: { path: { pid: project.id } } };
  try {
    await ask(api.DELETE("/api/projects/{pid}", at));
  } catch (error) {
    toastError(error);
    return;
  }
  refresh(keys.projects);
  toastUndo(message, async () => {
    await ask(api.POST("/api/projects/{pid}/restore", at));
    refresh(keys.projects);
  });
}
