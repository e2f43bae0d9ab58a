import { useMutation } from "@tanstack/react-query";
import { Square } from "lucide-react";
import { useT } from "@/i18n/t";
import { stopRun } from "@/run/act";
import { IconButton } from "@/ui/button";
import { toastError } from "@/ui/toast";

export function StopButton({ runId }: { runId: string }) {
  const t = useT();
  const stop = useMutation({ mutationFn: stopRun, onError: toastError });
  return (
    <IconButton
      label={stop.isPending ? t("run.stopping") : t("run.stop")}
      keys="Esc"
      disabled={stop.isPending}
      onClick={() => stop.mutate(runId)}
      className="!text-bad"
    >
      <Square aria-hidden fill="currentColor" className="!size-3.5" />
    </IconButton>
  );
}
