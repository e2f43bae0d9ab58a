import { useState, type ReactNode } from "react";
import { useT } from "@/i18n/t";
import { useIme } from "@/lib/ime";
import { Button } from "./button";
import { Dialog } from "./dialog";
import { Field } from "./field";

interface Props {
  title: string;
  label: string;
  hint?: string;
  initial?: string;
  /** Which part of the initial text is selected; all of it by default. */
  select?: [number, number];
  confirm: string;
  check?: (text: string) => string | null;
  /** Does it; what it returns is shown as the problem and keeps the dialog open. */
  onConfirm: (text: string) => Promise<string | null>;
  onClose: () => void;
  children?: ReactNode;
}

/** A dialog that asks for one line. */
export function AskText({ title, label, hint, initial = "", select, confirm, check, onConfirm, onClose, children }: Props) {
  const t = useT();
  const ime = useIme();
  const [text, setText] = useState(initial);
  const [problem, setProblem] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);
  const refused = text.trim() ? (check?.(text.trim()) ?? null) : null;

  const submit = async () => {
    if (!text.trim() || refused || busy) return;
    setBusy(true);
    const found = await onConfirm(text.trim());
    setBusy(false);
    if (found === null) onClose();
    else setProblem(found);
  };

  return (
    <Dialog open onOpenChange={(open) => !open && onClose()} title={title}>
      <div className="flex flex-col gap-4 overflow-y-auto px-5 pt-3 pb-5">
        <Field
          label={label}
          hint={hint}
          problem={refused ?? problem}
          value={text}
          autoFocus
          onFocus={(event) => event.target.setSelectionRange(...(select ?? [0, initial.length]))}
          onChange={(event) => {
            setText(event.target.value);
            setProblem(null);
          }}
          {...ime.props}
          onKeyDown={(event) => {
            if (!ime.isEnter(event)) return;
            event.preventDefault();
            void submit();
          }}
        />
        {children}
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>{t("common.cancel")}</Button>
          <Button look="primary" disabled={!text.trim() || refused !== null} busy={busy} onClick={() => void submit()}>
            {confirm}
          </Button>
        </div>
      </div>
    </Dialog>
  );
}
