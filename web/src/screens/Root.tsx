import { useQuery } from "@tanstack/react-query";
import { Link, Outlet } from "@tanstack/react-router";
import { useEffect } from "react";
import { useSelf } from "@/api/account";
import { settingsQuery } from "@/api/queries";
import { useLangStore, useT } from "@/i18n/t";
import { Empty, Failed } from "@/ui/states";

export function Root() {
  const { isAdmin } = useSelf();
  const { data: settings } = useQuery({ ...settingsQuery, enabled: isAdmin });
  useEffect(() => {
    const language = settings?.language;
    if (!language || language === "auto" || useLangStore.getState().chosen) return;
    useLangStore.setState({ lang: language });
    document.documentElement.lang = language;
  }, [settings?.language]);
  return <Outlet />;
}

export function NotFound() {
  const t = useT();
  return (
    <main className="grid h-full place-items-center">
      <h1 className="sr-only">{t("notfound.title")}</h1>
      <Empty title={t("notfound.title")} hint={t("notfound.hint")}>
        <Link to="/" className="text-accent underline underline-offset-4">
          {t("notfound.home")}
        </Link>
      </Empty>
    </main>
  );
}

export function ScreenError({ error, reset }: { error: unknown; reset: () => void }) {
  const t = useT();
  return (
    <main className="grid h-full place-items-center">
      <h1 className="sr-only">{t("common.problem")}</h1>
      <Failed error={error} onRetry={reset} />
    </main>
  );
}
