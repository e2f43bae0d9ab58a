import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { api, ask } from "@/api/client";
import { keys, refresh } from "@/api/queries";
import type { Role } from "@/api/types";
import { useT } from "@/i18n/t";
import { Button } from "@/ui/button";
import { Dialog } from "@/ui/dialog";
import { Field, Select } from "@/ui/field";
import { Form } from "@/ui/form";
import { PasswordField } from "@/ui/password-field";

const PLACES = { user_exists: "name", password_weak: "password" } as const;
const ROLES: readonly Role[] = ["member", "admin"];

interface Props {
  opener: () => HTMLElement | null;
  onClose: () => void;
}

export function NewUser({ opener, onClose }: Props) {
  const t = useT();
  const [name, setName] = useState("");
  const [password, setPassword] = useState("");
  const [role, setRole] = useState<Role>("member");
  const create = useMutation({
    mutationFn: () => ask(api.POST("/api/users", { body: { name: name.trim(), password, role } })),
    onSuccess: () => {
      refresh(keys.users);
      onClose();
    },
  });
  const isReady = name.trim() !== "" && password !== "";
  return (
    <Dialog open onOpenChange={(open) => !open && onClose()} opener={opener} title={t("users.new")} description={t("users.new.text")}>
      <Form
        error={create.error}
        places={PLACES}
        onSubmit={() => isReady && !create.isPending && create.mutate()}
        onEdit={create.reset}
        className="overflow-y-auto px-5 pt-4 pb-5"
      >
        {(problem) => (
          <>
            <Field
              label={t("login.name")}
              problem={problem("name")}
              value={name}
              autoFocus
              autoComplete="off"
              autoCapitalize="off"
              spellCheck={false}
              maxLength={200}
              onChange={(event) => setName(event.target.value)}
            />
            <PasswordField
              label={t("users.first_password")}
              hint={t("password.hint")}
              problem={problem("password")}
              value={password}
              autoComplete="new-password"
              maxLength={1000}
              onChange={(event) => setPassword(event.target.value)}
            />
            <Select
              label={t("users.role")}
              hint={t(`role.${role}.text`)}
              value={role}
              options={ROLES.map((value) => ({ value, label: t(`role.${value}`) }))}
              onChange={setRole}
            />
            <div className="flex justify-end gap-2">
              <Button onClick={onClose}>{t("common.cancel")}</Button>
              <Button type="submit" look="primary" busy={create.isPending} disabled={!isReady}>
                {t("common.create")}
              </Button>
            </div>
          </>
        )}
      </Form>
    </Dialog>
  );
}
