import { useState } from "react";
import type { Me } from "@/api/types";
import { useT } from "@/i18n/t";
import { Button } from "@/ui/button";
import { Dialog } from "@/ui/dialog";
import { LoginForm } from "./LoginForm";

/** Over what one was doing, which stays as it is: only the same person may go on with it. */
export function LoginEnded({ me }: { me: Me }) {
  const t = useT();
  const [before] = useState(() => document.activeElement);
  return (
    <Dialog
      open
      firm
      onOpenChange={() => undefined}
      opener={() => (before instanceof HTMLElement && before.isConnected ? before : null)}
      title={t("login.ended")}
      description={t("login.ended.text", { name: me.name })}
    >
      <div className="overflow-y-auto px-5 pt-4 pb-5">
        <LoginForm name={me.name}>
          <Button look="ghost" onClick={() => window.location.assign("/")}>
            {t("login.other")}
          </Button>
        </LoginForm>
      </div>
    </Dialog>
  );
}
