import { CircleAlert, Info, TriangleAlert } from "lucide-react";
import { isKey, useT } from "@/i18n/t";
import type { NoticeRow } from "@/run/state";

const LOOKS = {
  info: { Icon: Info, color: "text-ink-2" },
  warning: { Icon: TriangleAlert, color: "text-warn" },
  error: { Icon: CircleAlert, color: "text-bad" },
} as const;

/** Notices are codes; one that has no words here is for newer studios and is left out. */
export function NoticeLine({ row }: { row: NoticeRow }) {
  const t = useT();
  const key = `notice.${row.code}`;
  if (!isKey(key)) return null;
  const { Icon, color } = LOOKS[row.level];
  return (
    <p className={`flex items-start gap-2 text-[13px] ${color}`}>
      <Icon aria-hidden className="mt-0.5 size-4 shrink-0" />
      {t(key, row.params)}
    </p>
  );
}
