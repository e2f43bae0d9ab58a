import { CornerDownRight } from "lucide-react";
import { useT } from "@/i18n/t";
import type { UserRow as UserRowState } from "@/run/state";
import { cx } from "@/ui/cx";

interface Props {
  text: string;
  source: UserRowState["source"];
  isPending?: boolean;
}

/** A person's words. What the engine says to the model on its own behalf is not shown. */
export function UserRow({ text, source, isPending = false }: Props) {
  const t = useT();
  if (source !== "user" && source !== "steer") return null;
  const isSteer = source === "steer";
  return (
    <div className={cx("flex flex-col items-end", isPending && "opacity-60")}>
      {isSteer && (
        <p className="mb-0.5 flex items-center gap-1 text-xs text-accent">
          <CornerDownRight aria-hidden className="size-3.5" />
          {t("chat.steered")}
        </p>
      )}
      <div
        className={cx(
          "max-w-[88%] rounded-2xl rounded-br-md px-4 py-2.5 text-[15px] leading-relaxed wrap-anywhere whitespace-pre-wrap",
          isSteer ? "border border-dashed border-accent bg-surface" : "bg-sunken dark:bg-raised",
        )}
      >
        <span className="sr-only">{t("chat.you")}</span>
        {text}
      </div>
    </div>
  );
}
