import { useEffect, type ReactNode } from "react";
import { useT } from "@/i18n/t";
import { LanguageToggle, ThemeToggle } from "@/screens/Toggles";

/** A page for one who is not in yet. */
export function Door({ title, hint, children }: { title: string; hint?: string; children: ReactNode }) {
  const t = useT();
  useEffect(() => {
    document.title = `${title} · ${t("brand.name")}`;
  });
  return (
    <div className="flex min-h-full flex-col">
      <header className="flex h-13 shrink-0 items-center justify-end px-4 max-md:px-1.5">
        <nav aria-label={t("top.preferences")} className="flex">
          <LanguageToggle />
          <ThemeToggle />
        </nav>
      </header>
      <main className="mx-auto w-full max-w-md flex-1 px-5 pt-[7vh] pb-16">
        <p className="flex items-center justify-center gap-2.5 font-serif text-xl font-semibold">
          <span aria-hidden className="seal">
            {t("brand.seal")}
          </span>
          {t("brand.name")}
        </p>
        <div className="mt-6 rounded-2xl border border-line bg-raised p-6 shadow-float max-md:p-5">
          <h1 className="text-xl font-semibold">{title}</h1>
          {hint && <p className="mt-1 text-sm text-ink-2">{hint}</p>}
          <div className="mt-5">{children}</div>
        </div>
      </main>
    </div>
  );
}
