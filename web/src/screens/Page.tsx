import { useCanGoBack, useRouter } from "@tanstack/react-router";
import { ArrowLeft } from "lucide-react";
import { useEffect, type ReactNode } from "react";
import { useT } from "@/i18n/t";
import { IconButton } from "@/ui/button";
import { TopBar } from "./TopBar";

interface Props {
  title: string;
  hint?: string;
  /** What can be done here, beside the title. */
  action?: ReactNode;
  children: ReactNode;
}

/** A page beside the work: a title, its sections, and the way back. */
export function Page({ title, hint, action, children }: Props) {
  const t = useT();
  const router = useRouter();
  const canGoBack = useCanGoBack();
  useEffect(() => {
    document.title = `${title} · ${t("brand.name")}`;
  });
  return (
    <div className="flex min-h-full flex-col">
      <TopBar>
        <IconButton
          label={t("common.back")}
          onClick={() => (canGoBack ? router.history.back() : void router.navigate({ to: "/" }))}
        >
          <ArrowLeft aria-hidden />
        </IconButton>
      </TopBar>
      <main className="mx-auto w-full max-w-2xl flex-1 px-5 pt-6 pb-20">
        <div className="flex flex-wrap items-center justify-between gap-3">
          <h1 className="text-2xl font-semibold">{title}</h1>
          {action}
        </div>
        {hint && <p className="mt-1 text-sm text-ink-2">{hint}</p>}
        {children}
      </main>
    </div>
  );
}
