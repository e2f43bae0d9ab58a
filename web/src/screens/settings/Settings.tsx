import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { useSelf } from "@/api/account";
import { modelQuery, settingsQuery } from "@/api/queries";
import { setLang, useLangStore, useT, type Lang } from "@/i18n/t";
import { setTheme, THEMES, useTheme } from "@/lib/theme";
import { Page } from "@/screens/Page";
import { Segmented } from "@/ui/segmented";
import { Failed, Skeleton } from "@/ui/states";
import { ModelForm } from "./ModelForm";
import { useSaveSettings } from "./save";

export function Settings() {
  const t = useT();
  const { isAdmin } = useSelf();
  return (
    <Page title={t("settings.title")}>
      {isAdmin && <Model />}
      <Appearance />
    </Page>
  );
}

function Section({ id, title, hint, children }: { id: string; title: string; hint?: string; children: ReactNode }) {
  return (
    <section aria-labelledby={id} className="mt-8 border-t border-line pt-6">
      <h2 id={id} className="text-lg font-semibold">
        {title}
      </h2>
      {hint && <p className="mt-1 text-sm text-ink-2">{hint}</p>}
      <div className="mt-4">{children}</div>
    </section>
  );
}

function Model() {
  const t = useT();
  const settings = useQuery(settingsQuery);
  const model = useQuery(modelQuery);
  const failed = settings.error ?? model.error;
  return (
    <Section id="model" title={t("settings.model")} hint={t("settings.model.hint")}>
      {settings.data && model.data ? (
        <ModelForm settings={settings.data} model={model.data} />
      ) : failed ? (
        <Failed error={failed} onRetry={() => void Promise.all([settings.refetch(), model.refetch()])} />
      ) : (
        <Skeleton className="h-64" />
      )}
    </Section>
  );
}

function Appearance() {
  const t = useT();
  const theme = useTheme((state) => state.theme);
  const { lang, chosen } = useLangStore();
  const { isAdmin } = useSelf();
  const { data } = useQuery({ ...settingsQuery, enabled: isAdmin });
  const save = useSaveSettings();
  const choice = chosen || (isAdmin && data?.language !== "auto") ? lang : "auto";
  const choose = (next: Lang | "auto") => {
    setLang(next);
    if (isAdmin && !data?.locked.includes("language")) save.mutate({ language: next });
  };
  return (
    <Section id="appearance" title={t("settings.appearance")}>
      <div className="flex flex-col gap-4">
        <Line label={t("settings.language")}>
          <Segmented
            label={t("settings.language")}
            value={choice}
            onChange={choose}
            options={[
              { value: "auto", label: t("settings.auto") },
              { value: "zh", label: t("settings.language.zh") },
              { value: "en", label: t("settings.language.en") },
            ]}
          />
        </Line>
        <Line label={t("settings.theme")}>
          <Segmented
            label={t("settings.theme")}
            value={theme}
            onChange={setTheme}
            options={THEMES.map((value) => ({ value, label: t(`settings.theme.${value}`) }))}
          />
        </Line>
      </div>
    </Section>
  );
}

function Line({ label, children }: { label: string; children: ReactNode }) {
  return (
    <div className="flex flex-wrap items-center justify-between gap-3">
      <span className="text-sm font-medium">{label}</span>
      {children}
    </div>
  );
}
