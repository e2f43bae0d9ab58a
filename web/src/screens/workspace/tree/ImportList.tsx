import { CircleAlert, CircleCheck, X } from "lucide-react";
import { useShallow } from "zustand/react/shallow";
import type { ImportOut } from "@/api/types";
import { errorWords, problemWords, warningWords } from "@/api/words";
import { useT } from "@/i18n/t";
import { IconButton } from "@/ui/button";
import { Progress } from "@/ui/progress";
import { useWorkspace } from "../context";
import { dismiss, useImports, type Import, type ImportState } from "./imports";

/** More remarks than a person reads one by one. */
const SHOWN = 20;

/** What is being imported, what came of it, and why something was not. `onLast`: the focus has no row left. */
export function ImportList({ onLast }: { onLast: () => void }) {
  const t = useT();
  const { projectId } = useWorkspace();
  const jobs = useImports(useShallow((state) => state.jobs.filter((job) => job.projectId === projectId)));
  if (jobs.length === 0) return null;
  return (
    <ul
      aria-label={t("import.list")}
      tabIndex={0}
      className="mx-1.5 mb-1.5 max-h-[45%] shrink-0 divide-y divide-line overflow-y-auto rounded-lg border border-line bg-surface text-[13px]"
    >
      {jobs.map((job) => (
        <Line key={job.id} job={job} onLast={onLast} />
      ))}
    </ul>
  );
}

function Line({ job, onLast }: { job: Import; onLast: () => void }) {
  const t = useT();
  const { phase } = job.state;
  const { name } = job.file;
  const isOver = phase === "done" || phase === "failed";
  return (
    <li className="flex items-start gap-1 py-1 pl-3" data-phase={phase}>
      <div role="status" aria-live={phase === "sending" ? "off" : "polite"} className="flex min-w-0 flex-1 flex-col gap-1 py-1.5">
        <span className="truncate font-medium" title={name}>
          {name}
        </span>
        <Outcome state={job.state} name={name} />
      </div>
      {phase !== "reading" && (
        <IconButton
          label={t(isOver ? "import.dismiss" : "import.cancel", { name })}
          onClick={({ currentTarget }) => {
            if (!focusBeside(currentTarget)) onLast();
            dismiss(job);
          }}
        >
          <X aria-hidden />
        </IconButton>
      )}
    </li>
  );
}

/** The focus goes to the next row's button, or the one before: not away with its own. */
function focusBeside(button: HTMLElement): boolean {
  const buttons = [...(button.closest("ul")?.querySelectorAll("button") ?? [])];
  const at = buttons.findIndex((each) => each === button);
  const beside = buttons[at + 1] ?? buttons[at - 1];
  beside?.focus();
  return beside !== undefined;
}

function Outcome({ state, name }: { state: ImportState; name: string }) {
  const t = useT();
  switch (state.phase) {
    case "waiting":
      return <span className="text-ink-3">{t("import.waiting")}</span>;
    case "sending":
      return <Progress label={t("import.sending", { name })} fraction={state.fraction} />;
    case "reading":
      return (
        <>
          <Progress label={t("import.reading")} fraction={null} />
          <span className="text-ink-3">{t("import.reading")}</span>
        </>
      );
    case "done":
      return <Result result={state.result} />;
    case "failed":
      return <Marked look="bad">{errorWords(state.error, t)}</Marked>;
  }
}

function Result({ result: { files, warnings, problems } }: { result: ImportOut }) {
  const t = useT();
  // The same words twice (two documents of one archive) say no more than once.
  const remarks = [
    ...new Map<string, "bad" | "warn">([
      ...warnings.map((each) => [warningWords(each, t), "warn"] as const),
      ...problems.map((each) => [problemWords({ ...each, params: { name: each.name, ...each.params } }, t), "bad"] as const),
    ]),
  ];
  const [first] = files;
  return (
    <>
      {first ? (
        <Marked look="good">
          {files.length === 1 ? t("import.created", { path: first.path }) : t("import.created.many", { n: files.length })}
        </Marked>
      ) : (
        <Marked look="bad">{t("import.nothing")}</Marked>
      )}
      {remarks.slice(0, SHOWN).map(([words, look]) => (
        <Marked key={words} look={look}>
          {words}
        </Marked>
      ))}
      {remarks.length > SHOWN && <span className="text-ink-3">{t("import.more", { n: remarks.length - SHOWN })}</span>}
    </>
  );
}

const LOOKS = { good: "text-good", warn: "text-warn", bad: "text-bad" } as const;

function Marked({ look, children }: { look: keyof typeof LOOKS; children: React.ReactNode }) {
  const Icon = look === "good" ? CircleCheck : CircleAlert;
  return (
    <p className="flex items-start gap-1.5">
      <Icon aria-hidden className={`mt-0.5 size-3.5 shrink-0 ${LOOKS[look]}`} />
      <span className={look === "good" ? "min-w-0 break-words text-ink-2" : `min-w-0 break-words ${LOOKS[look]}`}>{children}</span>
    </p>
  );
}
