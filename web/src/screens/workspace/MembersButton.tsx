import { useNavigate } from "@tanstack/react-router";
import { Users } from "lucide-react";
import { Suspense, useRef, useState } from "react";
import { useIsViewer, useSelf } from "@/api/account";
import { useT } from "@/i18n/t";
import { late } from "@/lib/late";
import { IconButton } from "@/ui/button";
import { useWorkspace } from "./context";

const Members = late(() => import("../projects/Members").then((module) => module.Members));

export function MembersButton({ title }: { title: string }) {
  const t = useT();
  const { hasAccounts } = useSelf();
  const { projectId } = useWorkspace();
  const navigate = useNavigate();
  const button = useRef<HTMLButtonElement>(null);
  const [isOpen, setOpen] = useState(false);
  if (!hasAccounts) return null;
  return (
    <>
      <IconButton ref={button} label={t("members.title")} onClick={() => setOpen(true)}>
        <Users aria-hidden />
      </IconButton>
      <Suspense>
        {isOpen && (
          <Members
            projectId={projectId}
            title={title}
            opener={() => button.current}
            onClose={() => setOpen(false)}
            onLeft={() => void navigate({ to: "/" })}
          />
        )}
      </Suspense>
    </>
  );
}

/** Says why nothing can be changed here. */
export function ViewerMark() {
  const t = useT();
  const { projectId } = useWorkspace();
  if (!useIsViewer(projectId)) return null;
  return <span className="shrink-0 rounded-md bg-sunken px-2 py-0.5 text-xs text-ink-2">{t("viewer.mark")}</span>;
}
