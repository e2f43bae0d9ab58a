import { useMutation } from "@tanstack/react-query";
import { ArrowUp, CornerDownRight } from "lucide-react";
import { useEffect, useRef, useState, type KeyboardEvent } from "react";
import { useT } from "@/i18n/t";
import { useIme } from "@/lib/ime";
import { recall, remember } from "@/lib/storage";
import { stopRun } from "@/run/act";
import { Button } from "@/ui/button";
import { toastError } from "@/ui/toast";
import { useWorkspace } from "../context";
import { StopButton } from "./StopButton";

interface Props {
  begun: string | null;
  runId: string | null;
  lastAsked: string | null;
  onSend: (text: string) => Promise<boolean>;
}

export function Composer({ begun, runId, lastAsked, onSend }: Props) {
  const t = useT();
  const ime = useIme();
  const { projectId, sessionId } = useWorkspace();
  const draft = useDraft(`${projectId}.new`, sessionId, begun);
  const field = useRef<HTMLTextAreaElement>(null);
  const stop = useMutation({ mutationFn: stopRun, onError: toastError });
  const isRunning = runId !== null;

  const submit = async () => {
    const text = draft.text.trim();
    if (!text) return;
    draft.set("");
    // Words that could not be sent come back, unless new ones have been begun.
    if (!(await onSend(text))) draft.restore(text);
  };
  const onKeyDown = (event: KeyboardEvent<HTMLTextAreaElement>) => {
    if (ime.owns(event)) return;
    if (event.key === "Enter" && !event.shiftKey) {
      event.preventDefault();
      void submit();
    } else if (event.key === "ArrowUp" && draft.text === "" && lastAsked) {
      event.preventDefault();
      draft.set(lastAsked);
    } else if (event.key === "Escape" && isRunning && !stop.isPending) {
      event.preventDefault();
      stop.mutate(runId);
    }
  };
  const send = isRunning ? t("composer.steer") : t("composer.send");
  return (
    <div className="shrink-0 px-3 pb-3 max-md:px-2 max-md:pb-2">
      <div className="mx-auto max-w-3xl rounded-2xl border border-line-2 bg-raised transition-colors focus-within:border-accent">
        <textarea
          ref={field}
          rows={1}
          aria-label={isRunning ? t("composer.label.steer") : t("composer.label")}
          placeholder={isRunning ? t("composer.placeholder.steer") : t("composer.placeholder")}
          value={draft.text}
          onChange={(event) => draft.set(event.target.value)}
          {...ime.props}
          onKeyDown={onKeyDown}
          className="field-sizing-content block max-h-[40dvh] min-h-11 w-full resize-none bg-transparent px-4 pt-3 text-[15px] leading-relaxed outline-none"
        />
        <div className="flex items-center gap-2 px-2 pb-2">
          <p className="flex-1 truncate pl-2 text-xs text-ink-3 max-md:invisible">{t("composer.hint")}</p>
          {isRunning && <StopButton runId={runId} />}
          <Button
            look="primary"
            size="s"
            aria-label={send}
            disabled={!draft.text.trim()}
            onClick={() => {
              void submit();
              field.current?.focus();
            }}
            className="!h-8 rounded-full max-md:!h-11"
          >
            {isRunning ? <CornerDownRight aria-hidden className="size-4" /> : <ArrowUp aria-hidden className="size-4" />}
            {send}
          </Button>
        </div>
      </div>
    </div>
  );
}

/** The words in the field, kept per session through a reload. `unborn` is the key before there is one. */
function useDraft(unborn: string, sessionId: string | null, begun: string | null) {
  const key = sessionId ?? unborn;
  const [draft, setDraft] = useState(() => ({ key, text: recall(`draft.${key}`) ?? "" }));
  if (draft.key !== key) {
    const isSame = draft.key === unborn && sessionId === begun;
    setDraft({ key, text: isSame ? draft.text : (recall(`draft.${key}`) ?? "") });
  }
  useEffect(() => remember(`draft.${draft.key}`, draft.text || null), [draft]);
  useEffect(() => {
    if (begun !== null) remember(`draft.${unborn}`, null);
  }, [begun, unborn]);
  return {
    text: draft.text,
    set: (text: string) => setDraft((now) => ({ ...now, text })),
    restore: (lost: string) => setDraft((now) => (now.text ? now : { ...now, text: lost })),
  };
}
