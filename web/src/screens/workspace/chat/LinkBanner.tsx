import { CloudOff } from "lucide-react";
import { useT } from "@/i18n/t";
import { useRuns } from "@/run/store";

export function LinkBanner() {
  const t = useT();
  const isLost = useRuns((state) => state.link === "reconnecting");
  return (
    <div role="status">
      {isLost && (
        <p className="animate-rise flex items-center gap-2 border-b border-line bg-warn-soft px-4 py-1.5 text-[13px] text-warn">
          <CloudOff aria-hidden className="size-4 shrink-0" />
          {t("link.reconnecting")}
        </p>
      )}
    </div>
  );
}
