import { CircleCheck } from "lucide-react";
import type { ModelState } from "@/api/types";
import { useT } from "@/i18n/t";
import { PullButton, PullProgress } from "./Pull";

export function Embedded({ model, isCurrent }: { model: ModelState; isCurrent: boolean }) {
  const t = useT();
  if (model.state === "pulling") return <PullProgress model={model} />;
  if (isCurrent && model.state === "ready") {
    return (
      <p className="flex items-center gap-2 text-sm text-good">
        <CircleCheck aria-hidden className="size-4" />
        {t("model.ready", { name: model.model })}
      </p>
    );
  }
  return isCurrent ? <PullButton model={model} /> : <p className="text-sm text-ink-2">{t("model.save_first")}</p>;
}
