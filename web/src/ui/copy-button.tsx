import { Check, Copy } from "lucide-react";
import { useState } from "react";
import { useT } from "@/i18n/t";
import { IconButton } from "./button";
import { toastError } from "./toast";

const SHOWN_MS = 1500;

export function CopyButton({ label, text, className }: { label: string; text: () => string; className?: string }) {
  const t = useT();
  const [isDone, setDone] = useState(false);
  const copy = () =>
    navigator.clipboard.writeText(text()).then(() => {
      setDone(true);
      setTimeout(() => setDone(false), SHOWN_MS);
    }, toastError);
  return (
    <IconButton label={isDone ? t("common.copied") : label} className={className} onClick={() => void copy()}>
      {isDone ? <Check aria-hidden /> : <Copy aria-hidden />}
    </IconButton>
  );
}
