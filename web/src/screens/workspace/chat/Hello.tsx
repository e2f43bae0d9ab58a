import { useQuery } from "@tanstack/react-query";
import { useIsViewer } from "@/api/account";
import { modelQuery } from "@/api/queries";
import { useT } from "@/i18n/t";
import { Onboarding } from "@/screens/onboarding/Onboarding";
import { Empty } from "@/ui/states";
import { useWorkspace } from "../context";

const EXAMPLES = ["chat.example.list", "chat.example.summary", "chat.example.write"] as const;

export function Hello({ onSend }: { onSend: (text: string) => Promise<boolean> }) {
  const t = useT();
  const { data: model } = useQuery(modelQuery);
  const isViewer = useIsViewer(useWorkspace().projectId);
  if (isViewer) return <Empty className="pt-[12vh]" title={t("viewer.nothing")} />;
  if (model && model.state !== "ready") return <Onboarding />;
  return (
    <Empty className="pt-[12vh]" title={t("chat.empty")} hint={t("chat.empty.hint")}>
      <div className="flex flex-col gap-2">
        {EXAMPLES.map((key) => (
          <button
            key={key}
            type="button"
            onClick={() => void onSend(t(key))}
            className="rounded-lg border border-line-2 bg-raised px-4 py-2 text-left text-sm text-ink-2 transition-colors hover:border-ink-3 hover:text-ink max-md:min-h-11"
          >
            {t(key)}
          </button>
        ))}
      </div>
    </Empty>
  );
}
