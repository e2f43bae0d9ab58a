import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { api, ask } from "@/api/client";
import type { User } from "@/api/types";
import { useT } from "@/i18n/t";
import { Button } from "@/ui/button";
import { Dialog } from "@/ui/dialog";
import { Form } from "@/ui/form";
import { PasswordField } from "@/ui/password-field";
import { toastDone } from "@/ui/toast";

const PLACES = { password_weak: "password" } as const;

interface Props {
  user: User;
  opener: () => HTMLElement | null;
  onClose: () => void;
}

/** For one who forgot it. */
export function SetPassword({ user, opener, onClose }: Props) {
  const t = useT();
  const [password, setPassword] = useState("");
  const set = useMutation({
    mutationFn: () => ask(api.PUT("/api/users/{uid}/password", { params: { path: { uid: user.id } }, body: { password } })),
    onSuccess: () => {
      toastDone(t("users.password.done", { name: user.name }));
      onClose();
    },
  });
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && onClose()}
      opener={opener}
      title={t("users.password.of", { name: user.name })}
      description={t("users.password.text")}
    >
      <Form
        error={set.error}
        places={PLACES}
        onSubmit={() => password && !set.isPending && set.mutate()}
        onEdit={set.reset}
        className="overflow-y-auto px-5 pt-4 pb-5"
      >
        {(problem) => (
          <>
            <PasswordField
              label={t("password.new")}
              hint={t("password.hint")}
              problem={problem("password")}
              value={password}
              autoFocus
              autoComplete="new-password"
              maxLength={1000}
              onChange={(event) => setPassword(event.target.value)}
            />
            <div className="flex justify-end gap-2">
              <Button onClick={onClose}>{t("common.cancel")}</Button>
              <Button type="submit" look="primary" busy={set.isPending} disabled={!password}>
                {t("common.save")}
              </Button>
            </div>
          </>
        )}
      </Form>
    </Dialog>
  );
}
