import { useState } from "react";
import { errorWords } from "@/api/words";
import { useT } from "@/i18n/t";
import { Button } from "./button";
import { Dialog } from "./dialog";

interface Props {
  title: string;
  text: string;
  confirm: string;
  onConfirm: () => Promise<unknown>;
  onClose: () => void;
  opener?: () => HTMLElement | null | undefined;
}

/** Asks before what has no way back. What goes wrong is said here. */
export function Confirm({ title, text, confirm, onConfirm, onClose, opener }: Props) {
  const t = useT();
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const act = () => {
    setBusy(true);
    onConfirm().then(onClose, (failure: unknown) => (setError(failure), setBusy(false)));
  };
  return (
    <Dialog open onOpenChange={(open) => !open && onClose()} title={title} description={text} {...(opener && { opener })}>
      {error !== null && (
        <p role="alert" className="px-5 pt-3 text-[13px] text-bad">
          {errorWords(error, t)}
        </p>
      )}
      <div className="flex justify-end gap-2 px-5 pt-4 pb-5">
        <Button onClick={onClose}>{t("common.cancel")}</Button>
        <Button look="danger" busy={busy} onClick={act}>
          {confirm}
        </Button>
      </div>
    </Dialog>
  );
}
