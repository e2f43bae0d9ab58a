import { useMutation } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { api, ask } from "@/api/client";
import { keys, refresh } from "@/api/queries";
import { useT } from "@/i18n/t";
import { useIme } from "@/lib/ime";
import { Button } from "@/ui/button";
import { toastError } from "@/ui/toast";

export function NewProject() {
  const t = useT();
  const ime = useIme();
  const navigate = useNavigate();
  const [title, setTitle] = useState("");
  const create = useMutation({
    mutationFn: (wanted: string) => ask(api.POST("/api/projects", { body: { title: wanted } })),
    onSuccess: (project) => {
      refresh(keys.projects);
      void navigate({ to: "/p/$pid", params: { pid: project.id } });
    },
    onError: toastError,
  });
  const submit = () => {
    if (title.trim() && !create.isPending) create.mutate(title.trim());
  };
  return (
    <div className="mx-auto mt-7 flex max-w-xl gap-2 rounded-xl border border-line-2 bg-surface p-1.5 transition-colors focus-within:border-accent">
      <input
        aria-label={t("projects.new.label")}
        placeholder={t("projects.new.placeholder")}
        maxLength={200}
        value={title}
        onChange={(event) => setTitle(event.target.value)}
        {...ime.props}
        onKeyDown={(event) => ime.isEnter(event) && submit()}
        className="h-9 min-w-0 flex-1 bg-transparent px-3 text-base outline-none max-md:h-11"
      />
      <Button look="primary" busy={create.isPending} disabled={!title.trim()} onClick={submit}>
        {t("projects.new")}
      </Button>
    </div>
  );
}
