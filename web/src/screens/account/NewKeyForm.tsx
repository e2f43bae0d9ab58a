import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { useSelf } from "@/api/account";
import { api, ask } from "@/api/client";
import { keys, refresh } from "@/api/queries";
import type { NewKey, Scope } from "@/api/types";
import { useT } from "@/i18n/t";
import { Button } from "@/ui/button";
import { CopyButton } from "@/ui/copy-button";
import { Field, Select } from "@/ui/field";
import { Form } from "@/ui/form";

const SCOPES: readonly Scope[] = ["read", "write", "admin"];
const DAYS = ["30", "90", "365", "0"] as const;
const PLACES = { "": "name" } as const;

export function NewKeyForm({ onCancel, onMade }: { onCancel: () => void; onMade: (key: NewKey) => void }) {
  const t = useT();
  const { isAdmin } = useSelf();
  const [name, setName] = useState("");
  const [scopes, setScopes] = useState<readonly Scope[]>(["read"]);
  const [days, setDays] = useState<(typeof DAYS)[number]>("90");
  const create = useMutation({
    mutationFn: () => {
      const expires_at = days === "0" ? null : Date.now() / 1000 + Number(days) * 86_400;
      return ask(api.POST("/api/account/keys", { body: { name: name.trim(), scopes: [...scopes], expires_at } }));
    },
    onSuccess: (made) => {
      refresh(keys.apiKeys);
      onMade(made);
    },
  });
  const isReady = name.trim() !== "" && scopes.length > 0;
  return (
    <Form error={create.error} places={PLACES} onSubmit={() => isReady && !create.isPending && create.mutate()} onEdit={create.reset}>
      {(problem) => (
        <>
          <Field
            label={t("keys.name")}
            hint={t("keys.name.hint")}
            problem={problem("name")}
            value={name}
            autoFocus
            autoComplete="off"
            maxLength={200}
            onChange={(event) => setName(event.target.value)}
          />
          <fieldset>
            <legend className="mb-1 text-sm font-medium">{t("keys.scopes")}</legend>
            {SCOPES.filter((scope) => scope !== "admin" || isAdmin).map((scope) => (
              <label key={scope} className="flex min-h-8 items-center gap-2.5 text-sm max-md:min-h-11">
                <input
                  type="checkbox"
                  checked={scopes.includes(scope)}
                  onChange={({ target }) =>
                    setScopes(SCOPES.filter((each) => (each === scope ? target.checked : scopes.includes(each))))
                  }
                  className="size-4 max-md:size-5"
                />
                <span>
                  {t(`scope.${scope}`)} <span className="text-ink-3">{t(`scope.${scope}.text`)}</span>
                </span>
              </label>
            ))}
          </fieldset>
          <Select
            label={t("keys.end")}
            value={days}
            options={DAYS.map((value) => ({ value, label: value === "0" ? t("keys.endless") : t("keys.days", { n: value }) }))}
            onChange={setDays}
          />
          <div className="flex justify-end gap-2">
            <Button onClick={onCancel}>{t("common.cancel")}</Button>
            <Button type="submit" look="primary" busy={create.isPending} disabled={!isReady}>
              {t("common.create")}
            </Button>
          </div>
        </>
      )}
    </Form>
  );
}

/** Takes the focus, so that those who do not see it hear that it is there. */
export function Secret({ secret }: { secret: string }) {
  const t = useT();
  return (
    <div
      ref={(node) => node?.focus()}
      tabIndex={-1}
      role="group"
      aria-label={t("keys.secret")}
      className="rounded-xl border border-line-2 bg-good-soft p-3.5 outline-none"
    >
      <p className="text-sm font-medium">{t("keys.secret")}</p>
      <div className="mt-2 flex items-center gap-1 rounded-lg border border-line-2 bg-surface pl-3">
        <code className="min-w-0 flex-1 py-2 text-[13px] break-all select-all">{secret}</code>
        <CopyButton label={t("keys.secret.copy")} text={() => secret} />
      </div>
      <p className="mt-2 text-[13px] text-ink-2">{t("keys.secret.text")}</p>
    </div>
  );
}
