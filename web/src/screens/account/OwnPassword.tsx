import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { api, ask } from "@/api/client";
import { useT } from "@/i18n/t";
import { Button } from "@/ui/button";
import { Dialog } from "@/ui/dialog";
import { Form } from "@/ui/form";
import { PasswordField } from "@/ui/password-field";
import { toastDone } from "@/ui/toast";

const PLACES = { password_wrong: "old", login_throttled: "old", password_weak: "new" } as const;

interface Props {
  opener: () => HTMLElement | null;
  onClose: () => void;
}

export function OwnPassword({ opener, onClose }: Props) {
  const t = useT();
  const [old, setOld] = useState("");
  const [chosen, setChosen] = useState("");
  const change = useMutation({
    mutationFn: () => ask(api.PUT("/api/account/password", { body: { old, new: chosen } })),
    onSuccess: () => {
      toastDone(t("password.changed"));
      onClose();
    },
  });
  const isReady = old !== "" && chosen !== "";
  return (
    <Dialog open onOpenChange={(open) => !open && onClose()} opener={opener} title={t("password.title")} description={t("password.text")}>
      <Form
        error={change.error}
        places={PLACES}
        onSubmit={() => isReady && !change.isPending && change.mutate()}
        onEdit={change.reset}
        className="overflow-y-auto px-5 pt-4 pb-5"
      >
        {(problem) => (
          <>
            <PasswordField
              label={t("password.old")}
              problem={problem("old")}
              value={old}
              autoFocus
              autoComplete="current-password"
              maxLength={1000}
              onChange={(event) => setOld(event.target.value)}
            />
            <PasswordField
              label={t("password.new")}
              hint={t("password.hint")}
              problem={problem("new")}
              value={chosen}
              autoComplete="new-password"
              maxLength={1000}
              onChange={(event) => setChosen(event.target.value)}
            />
            <div className="flex justify-end gap-2">
              <Button onClick={onClose}>{t("common.cancel")}</Button>
              <Button type="submit" look="primary" busy={change.isPending} disabled={!isReady}>
                {t("common.save")}
              </Button>
            </div>
          </>
        )}
      </Form>
    </Dialog>
  );
}
