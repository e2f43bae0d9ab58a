import { useMutation } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { FolderOpen } from "lucide-react";
import { useId, useState } from "react";
import { useSelf } from "@/api/account";
import { api, ApiError, ask } from "@/api/client";
import { keys, queryClient, refresh, templatesQuery } from "@/api/queries";
import type { NewProjectIn, Template } from "@/api/types";
import { errorWords } from "@/api/words";
import { useLang, useT, type T } from "@/i18n/t";
import { useIme } from "@/lib/ime";
import { Button } from "@/ui/button";
import { Field } from "@/ui/field";
import { toastError } from "@/ui/toast";
import { TemplateChooser } from "./TemplateChooser";

export function NewProject() {
  const t = useT();
  const lang = useLang();
  const ime = useIme();
  const id = useId();
  const { isAdmin } = useSelf();
  const navigate = useNavigate();
  const [title, setTitle] = useState("");
  const [template, setTemplate] = useState<Template["id"] | null>(null);
  /** null: the files are kept in the database. */
  const [folder, setFolder] = useState<string | null>(null);
  const path = folder?.trim() ?? "";
  const name = title.trim() || lastPart(path);
  const create = useMutation({
    mutationFn: async () => {
      if (path || template === null) return { project: await begin({ title: name, ...(path && { path }) }), search: {} };
      const known = await queryClient.ensureQueryData(templatesQuery(lang));
      const f = known.find((each) => each.id === template)?.opens;
      return { project: await begin({ title: name, template, language: lang }), search: f === undefined ? {} : { f } };
    },
    onSuccess: ({ project, search }) => {
      refresh(keys.projects);
      void navigate({ to: "/p/$pid", params: { pid: project.id }, search });
    },
    onError: (error) => isOfPath(error) || toastError(error),
  });
  const submit = () => {
    if (name && !create.isPending) create.mutate();
  };
  const enter = { ...ime.props, onKeyDown: (event: React.KeyboardEvent) => void (ime.isEnter(event) && submit()) };
  return (
    <div className="mx-auto mt-7 max-w-3xl">
      <div className="mx-auto flex max-w-xl gap-2 rounded-xl border border-line-2 bg-surface p-1.5 transition-colors focus-within:border-accent">
        <input
          aria-label={t("projects.new.label")}
          placeholder={t("projects.new.placeholder")}
          maxLength={200}
          value={title}
          onChange={(event) => setTitle(event.target.value)}
          {...enter}
          className="h-9 min-w-0 flex-1 bg-transparent px-3 text-base outline-none max-md:h-11"
        />
        <Button look="primary" busy={create.isPending} disabled={!name} onClick={submit}>
          {t("projects.new")}
        </Button>
      </div>
      {path ? (
        <p className="mt-4 text-center text-[13px] text-ink-3">{t("projects.folder.plain")}</p>
      ) : (
        <TemplateChooser chosen={template} onChoose={setTemplate} />
      )}
      {isAdmin && (
        <div className="mx-auto mt-3 max-w-xl text-center">
          <Button
            look="ghost"
            size="s"
            aria-expanded={folder !== null}
            aria-controls={id}
            onClick={() => {
              setFolder(folder === null ? "" : null);
              create.reset();
            }}
          >
            <FolderOpen aria-hidden className="size-4" />
            {t("projects.folder.open")}
          </Button>
          <div id={id} className="text-left">
            {folder !== null && (
              <Field
                className="mt-2"
                label={t("projects.folder")}
                hint={t("projects.folder.hint")}
                problem={pathProblem(create.error, t)}
                value={folder}
                autoFocus
                autoComplete="off"
                spellCheck={false}
                onChange={(event) => {
                  setFolder(event.target.value);
                  create.reset();
                }}
                {...enter}
              />
            )}
          </div>
        </div>
      )}
    </div>
  );
}

function begin(body: NewProjectIn) {
  return ask(api.POST("/api/projects", { body }));
}

/** A folder's own name, under which its project goes unless another is given. */
export function lastPart(path: string): string {
  return path.split(/[\\/]/).findLast((part) => part !== "") ?? "";
}

function isOfPath(error: unknown): error is ApiError {
  if (!(error instanceof ApiError)) return false;
  return error.code === "project_path_missing" || (error.code === "invalid_request" && error.params.field === "path");
}

function pathProblem(error: unknown, t: T): string | null {
  if (!isOfPath(error)) return null;
  return error.code === "invalid_request" ? t("projects.folder.relative") : errorWords(error, t);
}
