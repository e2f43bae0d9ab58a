import { useQuery } from "@tanstack/react-query";
import { BookOpen, ChartNoAxesColumn, ChevronDown, Clapperboard, Feather, File, ListChecks, type LucideIcon } from "lucide-react";
import { RadioGroup } from "radix-ui";
import { useId, useState } from "react";
import { templatesQuery } from "@/api/queries";
import type { Template } from "@/api/types";
import { useLang, useT } from "@/i18n/t";
import { useNarrow } from "@/lib/media";
import { Button } from "@/ui/button";
import { cx } from "@/ui/cx";
import { Skeleton } from "@/ui/states";

const BLANK = "blank";
const ICONS: Record<Template["id"], LucideIcon> = {
  novel: BookOpen,
  short_story: Feather,
  screenplay: Clapperboard,
  report: ChartNoAxesColumn,
  prd: ListChecks,
};

interface Props {
  chosen: Template["id"] | null;
  onChoose: (template: Template["id"] | null) => void;
}

/** What a project begins with. On a phone it is folded away: the projects below are what one came for. */
export function TemplateChooser({ chosen, onChoose }: Props) {
  const t = useT();
  const id = useId();
  const isNarrow = useNarrow();
  const [isOpen, setOpen] = useState(false);
  const title = useQuery(templatesQuery(useLang())).data?.find((each) => each.id === chosen)?.title;
  const cards = <Cards chosen={chosen} onChoose={onChoose} />;
  if (!isNarrow) return <div className="mt-5">{cards}</div>;
  return (
    <div className="mt-3">
      <Button look="ghost" className="w-full" aria-expanded={isOpen} aria-controls={id} onClick={() => setOpen(!isOpen)}>
        {t("projects.template.of", { title: title ?? t("projects.blank") })}
        <ChevronDown aria-hidden className={cx("size-4 transition-transform", isOpen && "rotate-180")} />
      </Button>
      <div id={id} className="mt-2">
        {isOpen && cards}
      </div>
    </div>
  );
}

function Cards({ chosen, onChoose }: Props) {
  const t = useT();
  const { data, isPending, isError, refetch } = useQuery(templatesQuery(useLang()));
  const templates = data ?? [];
  return (
    <>
      <RadioGroup.Root
        aria-label={t("projects.template")}
        value={chosen ?? BLANK}
        onValueChange={(value) => onChoose(templates.find((each) => each.id === value)?.id ?? null)}
        className="grid grid-cols-3 gap-2.5 max-md:grid-cols-1"
      >
        <Card value={BLANK} icon={File} title={t("projects.blank")} text={t("projects.blank.text")} />
        {templates.map((each) => (
          <Card key={each.id} value={each.id} icon={ICONS[each.id]} title={each.title} text={each.description} />
        ))}
        {isPending && ["a", "b", "c", "d", "e"].map((each) => <Skeleton key={each} className="h-24 rounded-xl" />)}
      </RadioGroup.Root>
      {isError && (
        <p role="alert" className="mt-3 flex flex-wrap items-center justify-center gap-2 text-[13px] text-ink-2">
          {t("projects.template.failed")}
          <Button size="s" onClick={() => void refetch()}>
            {t("common.retry")}
          </Button>
        </p>
      )}
    </>
  );
}

interface CardProps {
  value: string;
  icon: LucideIcon;
  title: string;
  text: string;
}

function Card({ value, icon: Icon, title, text }: CardProps) {
  const id = useId();
  return (
    <RadioGroup.Item
      value={value}
      aria-labelledby={`${id}-title`}
      aria-describedby={`${id}-text`}
      className="group flex min-h-11 flex-col rounded-xl border border-line bg-surface px-3.5 py-3 text-left transition-colors hover:border-line-2 data-[state=checked]:border-accent data-[state=checked]:bg-accent-soft"
    >
      <span className="flex items-center gap-2">
        <Icon aria-hidden className="size-4 shrink-0 text-ink-3 group-data-[state=checked]:text-accent" />
        <span id={`${id}-title`} className="font-serif text-[15px] font-semibold">
          {title}
        </span>
      </span>
      <span id={`${id}-text`} className="mt-1 text-[13px] leading-5 text-ink-2">
        {text}
      </span>
    </RadioGroup.Item>
  );
}
