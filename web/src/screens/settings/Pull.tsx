import { useMutation } from "@tanstack/react-query";
import { Download } from "lucide-react";
import { api, ask } from "@/api/client";
import { keys, queryClient } from "@/api/queries";
import type { ModelState } from "@/api/types";
import { useT } from "@/i18n/t";
import { formatBytes } from "@/lib/format";
import { Button } from "@/ui/button";
import { Progress } from "@/ui/progress";
import { toastError } from "@/ui/toast";
import { useSaveSettings } from "./save";

const take = (state: ModelState) => queryClient.setQueryData(keys.model, state);

/** Downloads the embedded model and makes it the one that answers. */
export function PullButton({ model }: { model: ModelState }) {
  const t = useT();
  const save = useSaveSettings();
  const pull = useMutation({
    mutationFn: async () => {
      if (model.provider !== "embedded") await save.mutateAsync({ provider: "embedded" });
      return ask(api.POST("/api/model/pull"));
    },
    onSuccess: take,
    onError: toastError,
  });
  const size = model.provider === "embedded" && model.size_bytes > 0 ? ` (${formatBytes(model.size_bytes)})` : "";
  return (
    <div>
      <Button look="primary" busy={pull.isPending} onClick={() => pull.mutate()}>
        <Download aria-hidden className="size-4" />
        {t("model.pull")}
        {size}
      </Button>
      {model.state === "error" && model.error && (
        <p role="alert" className="mt-2 text-[13px] text-bad">
          {model.error}
        </p>
      )}
    </div>
  );
}

export function PullProgress({ model }: { model: ModelState }) {
  const t = useT();
  const cancel = useMutation({
    mutationFn: () => ask(api.POST("/api/model/cancel")),
    onSuccess: take,
    onError: toastError,
  });
  return (
    <div className="flex items-center gap-3">
      <Progress label={t("model.pulling")} fraction={model.progress ?? null} />
      <Button size="s" busy={cancel.isPending} onClick={() => cancel.mutate()}>
        {t("common.cancel")}
      </Button>
    </div>
  );
}
