import { useNavigate } from "@tanstack/react-router";
import { KeyRound, LogOut, RectangleEllipsis, ScrollText, Settings2, Users } from "lucide-react";
import { useRef, useState } from "react";
import { useSelf } from "@/api/account";
import { api, ask } from "@/api/client";
import type { Me } from "@/api/types";
import { useT } from "@/i18n/t";
import { giveUp, saveAll } from "@/screens/workspace/editor/saving";
import { Confirm } from "@/ui/confirm";
import { Menu, type MenuItem } from "@/ui/menu";
import { toastError } from "@/ui/toast";
import { Keys } from "./Keys";
import { OwnPassword } from "./OwnPassword";

/** What is one's own, and for admins what is everyone's. */
export function AccountMenu({ user }: { user: Me }) {
  const t = useT();
  const { isAdmin } = useSelf();
  const navigate = useNavigate();
  const button = useRef<HTMLButtonElement>(null);
  const [dialog, setDialog] = useState<"password" | "keys" | "unsaved" | null>(null);
  const shown = { opener: () => button.current, onClose: () => setDialog(null) };
  const leave = async () => {
    if (!(await saveAll())) setDialog("unsaved");
    else await logOut().catch(toastError);
  };
  const admins: MenuItem[] = [
    { label: t("users.title"), icon: <Users aria-hidden />, onSelect: () => void navigate({ to: "/users" }) },
    { label: t("audit.title"), icon: <ScrollText aria-hidden />, onSelect: () => void navigate({ to: "/audit" }) },
  ];
  const items: MenuItem[] = [
    ...(isAdmin ? admins : []),
    { label: t("keys.title"), icon: <KeyRound aria-hidden />, onSelect: () => setDialog("keys") },
    { label: t("password.title"), icon: <RectangleEllipsis aria-hidden />, onSelect: () => setDialog("password") },
    { label: t("settings.title"), icon: <Settings2 aria-hidden />, onSelect: () => void navigate({ to: "/settings" }) },
    { label: t("logout.do"), icon: <LogOut aria-hidden />, onSelect: () => void leave() },
  ];
  return (
    <>
      <Menu items={items} heading={isAdmin ? t("account.admin", { name: user.name }) : user.name} keepFocus={dialog !== null}>
        <button
          ref={button}
          type="button"
          aria-label={t("account.menu", { name: user.name })}
          title={user.name}
          className="group inline-flex size-8 shrink-0 items-center justify-center rounded-lg hover:bg-sunken max-md:size-11"
        >
          <span
            aria-hidden
            className="grid size-6 place-items-center rounded-full bg-accent-soft text-xs font-semibold text-accent uppercase max-md:size-7"
          >
            {[...user.name][0]}
          </span>
        </button>
      </Menu>
      {dialog === "password" && <OwnPassword {...shown} />}
      {dialog === "keys" && <Keys {...shown} />}
      {dialog === "unsaved" && (
        <Confirm
          {...shown}
          title={t("logout.unsaved")}
          text={t("logout.unsaved.text")}
          confirm={t("logout.anyway")}
          onConfirm={logOut}
        />
      )}
    </>
  );
}

/** Begins again with an empty page: nothing of one person's is left for the next. */
async function logOut(): Promise<void> {
  await ask(api.POST("/api/account/logout"));
  giveUp();
  window.location.assign("/");
}
