import { useMutation } from "@tanstack/react-query";
import { useState, type ReactNode } from "react";
import { enter } from "@/api/account";
import { api, ask } from "@/api/client";
import { useT } from "@/i18n/t";
import { Button } from "@/ui/button";
import { Field } from "@/ui/field";
import { Form } from "@/ui/form";
import { PasswordField } from "@/ui/password-field";

const PLACES = { login_failed: "password", login_throttled: "password", "": "name" } as const;

interface Props {
  /** Who has to log in again; anybody if it is left out. */
  name?: string;
  children?: ReactNode;
}

export function LoginForm({ name: known, children }: Props) {
  const t = useT();
  const [name, setName] = useState(known ?? "");
  const [password, setPassword] = useState("");
  const login = useMutation({
    mutationFn: () => ask(api.POST("/api/account/login", { body: { name: name.trim(), password } })),
    onSuccess: enter,
  });
  const isReady = name.trim() !== "" && password !== "";
  return (
    <Form error={login.error} places={PLACES} onSubmit={() => isReady && !login.isPending && login.mutate()} onEdit={login.reset}>
      {(problem) => (
        <>
          <Field
            label={t("login.name")}
            problem={problem("name")}
            value={name}
            readOnly={known !== undefined}
            autoFocus={known === undefined}
            autoComplete="username"
            autoCapitalize="off"
            spellCheck={false}
            maxLength={200}
            onChange={(event) => setName(event.target.value)}
          />
          <PasswordField
            label={t("login.password")}
            problem={problem("password")}
            value={password}
            autoFocus={known !== undefined}
            autoComplete="current-password"
            maxLength={1000}
            onChange={(event) => setPassword(event.target.value)}
          />
          <Button type="submit" look="primary" className="w-full" busy={login.isPending} disabled={!isReady}>
            {t("login.do")}
          </Button>
          {children}
        </>
      )}
    </Form>
  );
}
