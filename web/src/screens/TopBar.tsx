import { Link } from "@tanstack/react-router";
import { Settings2 } from "lucide-react";
import { Suspense, type ReactNode } from "react";
import { useSelf } from "@/api/account";
import { useT } from "@/i18n/t";
import { late } from "@/lib/late";
import { cx } from "@/ui/cx";
import { Tooltip } from "@/ui/tooltip";
import { LanguageToggle, ThemeToggle } from "./Toggles";

const AccountMenu = late(() => import("./account/AccountMenu").then((module) => module.AccountMenu));

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
  const { user } = useSelf();
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
          className={cx(
            "inline-flex size-8 items-center justify-center rounded-lg text-ink-2 hover:bg-sunken hover:text-ink max-md:size-11",
            isCrowded && user && "max-md:hidden", // the account's menu has them
          )}
        >
          <Settings2 aria-hidden className="size-[18px]" />
        </Link>
      </Tooltip>
      {user && (
        <Suspense fallback={<span className="size-8 max-md:size-11" />}>
          <AccountMenu user={user} />
        </Suspense>
      )}
    </nav>
  );
}
