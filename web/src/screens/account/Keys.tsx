import { useQuery } from "@tanstack/react-query";
import { Trash2 } from "lucide-react";
import { useState } from "react";
import { apiKeysQuery } from "@/api/account";
import { api, ask } from "@/api/client";
import { keys, refresh } from "@/api/queries";
import type { ApiKey } from "@/api/types";
import { useLang, useT } from "@/i18n/t";
import { formatDay, formatWhen } from "@/lib/format";
import { useNow } from "@/lib/now";
import { Button, IconButton } from "@/ui/button";
import { Confirm } from "@/ui/confirm";
import { Dialog } from "@/ui/dialog";
import { Failed, Skeleton } from "@/ui/states";
import { NewKeyForm, Secret } from "./NewKeyForm";

interface Props {
  opener: () => HTMLElement | null;
  onClose: () => void;
}

/** Keys for one's programs. A secret is shown once, when its key is made. */
export function Keys({ opener, onClose }: Props) {
  const t = useT();
  const { data, error, refetch } = useQuery({ ...apiKeysQuery, refetchOnMount: "always" });
  const [step, setStep] = useState<"list" | "new" | { secret: string }>("list");
  const [revoked, setRevoked] = useState<ApiKey | null>(null);
  return (
    <Dialog open wide onOpenChange={(open) => !open && onClose()} opener={opener} title={t("keys.title")} description={t("keys.text")}>
      <div className="flex flex-col gap-4 overflow-y-auto px-5 pt-4 pb-5">
        {step === "new" ? (
          <NewKeyForm onCancel={() => setStep("list")} onMade={({ secret }) => setStep({ secret })} />
        ) : (
          <>
            {step !== "list" && <Secret secret={step.secret} />}
            {error ? (
              <Failed error={error} onRetry={() => void refetch()} className="py-4" />
            ) : !data ? (
              <Skeleton className="h-24" />
            ) : data.length === 0 ? (
              <p className="py-4 text-center text-sm text-ink-3">{t("keys.empty")}</p>
            ) : (
              <ul className="flex flex-col divide-y divide-line">
                {data.map((each) => (
                  <Row key={each.id} of={each} onRevoke={() => setRevoked(each)} />
                ))}
              </ul>
            )}
            <div className="flex justify-end">
              <Button look="primary" autoFocus={step === "list"} onClick={() => setStep("new")}>
                {t("keys.new")}
              </Button>
            </div>
          </>
        )}
      </div>
      {revoked && (
        <Confirm
          title={t("keys.revoke", { name: revoked.name })}
          text={t("keys.revoke.text")}
          confirm={t("keys.revoke.do")}
          onClose={() => setRevoked(null)}
          onConfirm={() =>
            ask(api.DELETE("/api/account/keys/{kid}", { params: { path: { kid: revoked.id } } })).finally(() => refresh(keys.apiKeys))
          }
        />
      )}
    </Dialog>
  );
}

function Row({ of: key, onRevoke }: { of: ApiKey; onRevoke: () => void }) {
  const t = useT();
  const lang = useLang();
  const now = useNow(30_000);
  const isPast = key.expires_at !== null && key.expires_at <= now;
  const end = key.expires_at === null ? t("keys.endless") : t(isPast ? "keys.ended" : "keys.ends", { day: formatDay(key.expires_at, lang) });
  return (
    <li className="flex items-center gap-3 py-2.5">
      <div className="min-w-0 flex-1">
        <p className="truncate text-sm font-medium">
          {key.name} <code className="ml-1 text-xs font-normal text-ink-3">{`${key.prefix}…`}</code>
        </p>
        <p className="mt-0.5 text-[13px] text-ink-3">
          {[
            key.scopes.map((scope) => t(`scope.${scope}`)).join(t("common.comma")),
            end,
            key.seen_at === null ? t("keys.unused") : t("keys.used", { when: formatWhen(key.seen_at, now, lang) }),
          ].join(" · ")}
        </p>
      </div>
      <IconButton label={t("keys.revoke", { name: key.name })} onClick={onRevoke}>
        <Trash2 aria-hidden />
      </IconButton>
    </li>
  );
}
