import type { ReactNode } from "react";
import { errorWords } from "@/api/words";
import { useT } from "@/i18n/t";
import { Button } from "./button";
import { cx } from "./cx";

interface EmptyProps {
  title: string;
  hint?: string;
  children?: ReactNode;
  className?: string;
}

export function Empty({ title, hint, children, className }: EmptyProps) {
  return (
    <div className={cx("flex flex-col items-center justify-center gap-2 px-6 py-12 text-center", className)}>
      <p className="font-serif text-lg text-ink">{title}</p>
      {hint && <p className="max-w-sm text-sm text-balance text-ink-3">{hint}</p>}
      {children && <div className="mt-3 flex flex-wrap justify-center gap-2">{children}</div>}
    </div>
  );
}

export function Failed({ error, onRetry, className }: { error: unknown; onRetry: () => void; className?: string }) {
  const t = useT();
  return (
    <div role="alert" className={cx("flex flex-col items-center gap-3 px-6 py-12 text-center", className)}>
      <p className="max-w-md text-sm text-bad">{errorWords(error, t)}</p>
      <Button onClick={onRetry}>{t("common.retry")}</Button>
    </div>
  );
}

export function Skeleton({ className }: { className?: string }) {
  return <div aria-hidden className={cx("skeleton", className)} />;
}
