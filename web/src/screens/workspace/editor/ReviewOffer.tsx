import { useT } from "@/i18n/t";
import { Button } from "@/ui/button";
import { useWorkspace } from "../context";
import { dismiss, startReview, useHistory } from "../versions/store";
import { useFolder } from "../versions/use-folder";

/** An agent wrote this file: whoever has it open can look through the changes. */
export function ReviewOffer({ path }: { path: string }) {
  const t = useT();
  const { projectId } = useWorkspace();
  const folder = useFolder(projectId);
  const written = useHistory((state) => state.unseen.find((each) => each.path === path));
  if (!written || folder) return null;
  return (
    <div role="status" className="flex flex-wrap items-center gap-2 border-b border-line bg-accent-soft/60 px-4 py-1.5 text-[13px] text-ink">
      <span className="flex-1">{t("review.offer")}</span>
      <Button size="s" onClick={() => startReview(written)}>
        {t("review.open")}
      </Button>
      <Button size="s" look="ghost" onClick={() => dismiss(path)}>
        {t("review.later")}
      </Button>
    </div>
  );
}
