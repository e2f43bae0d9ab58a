import { Link } from "@tanstack/react-router";
import { Languages, Moon, Settings2, Sun } from "lucide-react";
import type { ReactNode } from "react";
import { api, ask } from "@/api/client";
import { keys, queryClient } from "@/api/queries";
import { setLang, useLang, useT } from "@/i18n/t";
import { setTheme, useTheme } from "@/lib/theme";
import { IconButton } from "@/ui/button";
import { cx } from "@/ui/cx";
import { Tooltip } from "@/ui/tooltip";

interface Props {
  children?: ReactNode;
  /** On a phone there is no room for preferences that the settings hold as well. */
  isCrowded?: boolean;
}

export function TopBar({ children, isCrowded = false }: Props) {
  const t = useT();
  return (
    <header className="flex h-13 shrink-0 items-center gap-2 px-4 max-md:px-1.5">
      <Link to="/" aria-label={t("top.home")} className="flex shrink-0 items-center gap-2.5 rounded-lg pr-1 max-md:min-h-11 max-md:min-w-11 max-md:px-2">
        <span aria-hidden className="seal">
          {t("brand.seal")}
        </span>
        {!children && <span className="font-serif text-lg font-semibold">{t("brand.name")}</span>}
      </Link>
      <div className="flex min-w-0 flex-1 items-center gap-2">{children}</div>
      <Preferences isCrowded={isCrowded} />
    </header>
  );
}

function Preferences({ isCrowded }: { isCrowded: boolean }) {
  const t = useT();
  return (
    <nav aria-label={t("top.preferences")} className="flex items-center">
      <div className={cx("flex", isCrowded && "max-md:hidden")}>
        <LanguageToggle />
        <ThemeToggle />
      </div>
      <Tooltip text={t("settings.title")}>
        <Link
          to="/settings"
          aria-label={t("settings.title")}
          className="inline-flex size-8 items-center justify-center rounded-lg text-ink-2 hover:bg-sunken hover:text-ink max-md:size-11"
        >
          <Settings2 aria-hidden className="size-[18px]" />
        </Link>
      </Tooltip>
    </nav>
  );
}

function LanguageToggle() {
  const t = useT();
  const other = useLang() === "zh" ? "en" : "zh";
  const change = () => {
    setLang(other);
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

function ThemeToggle() {
  const t = useT();
  useTheme((state) => state.theme);
  const dark = document.documentElement.dataset.theme === "dark";
  return (
    <IconButton label={dark ? t("top.light") : t("top.dark")} onClick={() => setTheme(dark ? "light" : "dark")}>
      {dark ? <Sun aria-hidden /> : <Moon aria-hidden />}
    </IconButton>
  );
}
