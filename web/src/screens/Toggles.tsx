import { Languages, Moon, Sun } from "lucide-react";
import { useSelf } from "@/api/account";
import { api, ask } from "@/api/client";
import { keys, queryClient } from "@/api/queries";
import { setLang, useLang, useT } from "@/i18n/t";
import { setTheme, useTheme } from "@/lib/theme";
import { IconButton } from "@/ui/button";

export function LanguageToggle() {
  const t = useT();
  const { hasAccounts } = useSelf();
  const other = useLang() === "zh" ? "en" : "zh";
  const change = () => {
    setLang(other);
    if (hasAccounts) return; // what one person reads is not what all others shall
    // The server writes its own words in this language too; if an administrator fixed it there, the
    // choice holds for this browser.
    ask(api.PUT("/api/settings", { body: { language: other } })).then(
      (settings) => queryClient.setQueryData(keys.settings, settings),
      () => undefined,
    );
  };
  return (
    <IconButton label={t("top.language")} onClick={change}>
      <Languages aria-hidden />
    </IconButton>
  );
}

export function ThemeToggle() {
  const t = useT();
  useTheme((state) => state.theme);
  const dark = document.documentElement.dataset.theme === "dark";
  return (
    <IconButton label={dark ? t("top.light") : t("top.dark")} onClick={() => setTheme(dark ? "light" : "dark")}>
      {dark ? <Sun aria-hidden /> : <Moon aria-hidden />}
    </IconButton>
  );
}
