import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { accountQuery, enter } from "@/api/account";
import { api, ApiError, ask } from "@/api/client";
import { queryClient } from "@/api/queries";
import { useT } from "@/i18n/t";
import { Button } from "@/ui/button";
import { Field } from "@/ui/field";
import { Form } from "@/ui/form";
import { PasswordField } from "@/ui/password-field";
import { toastError } from "@/ui/toast";
import { Door } from "./Door";

const PLACES = { setup_code_wrong: "code", password_weak: "password", "": "name" } as const;

/** The first admin, made with the code that the server printed. */
export function SetUp() {
  const t = useT();
  const [name, setName] = useState("");
  const [password, setPassword] = useState("");
  const [code, setCode] = useState("");
  const setUp = useMutation({
    mutationFn: () => ask(api.POST("/api/account/setup", { body: { name: name.trim(), password, code: code.trim() } })),
    onSuccess: enter,
    onError: (error) => {
      if (!(error instanceof ApiError) || error.code !== "setup_done") return;
      toastError(error); // someone was faster: the page to log in takes this one's place
      void queryClient.invalidateQueries(accountQuery);
    },
  });
  const isReady = name.trim() !== "" && password !== "" && code.trim() !== "";
  return (
    <Door title={t("setup.title")} hint={t("setup.hint")}>
      <Form error={setUp.error} places={PLACES} onSubmit={() => isReady && !setUp.isPending && setUp.mutate()} onEdit={setUp.reset}>
        {(problem) => (
          <>
            <Field
              label={t("login.name")}
              problem={problem("name")}
              value={name}
              autoFocus
              autoComplete="username"
              autoCapitalize="off"
              spellCheck={false}
              maxLength={200}
              onChange={(event) => setName(event.target.value)}
            />
            <PasswordField
              label={t("login.password")}
              hint={t("password.hint")}
              problem={problem("password")}
              value={password}
              autoComplete="new-password"
              maxLength={1000}
              onChange={(event) => setPassword(event.target.value)}
            />
            <Field
              label={t("setup.code")}
              hint={t("setup.code.hint")}
              problem={problem("code")}
              value={code}
              autoComplete="off"
              autoCapitalize="off"
              spellCheck={false}
              maxLength={200}
              onChange={(event) => setCode(event.target.value)}
            />
            <Button type="submit" look="primary" className="w-full" busy={setUp.isPending} disabled={!isReady}>
              {t("setup.do")}
            </Button>
          </>
        )}
      </Form>
    </Door>
  );
}
