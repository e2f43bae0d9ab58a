import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Cpu, PlugZap, ScrollText } from "lucide-react";
import type { ReactNode } from "react";
import { useSelf } from "@/api/account";
import { modelQuery } from "@/api/queries";
import { useT } from "@/i18n/t";
import { PullButton, PullProgress } from "@/screens/settings/Pull";
import { useSaveSettings } from "@/screens/settings/save";
import { Button } from "@/ui/button";

/** Shown while no model can answer: the three ways to get one. */
export function Onboarding() {
  const t = useT();
  const { data: model } = useQuery(modelQuery);
  const save = useSaveSettings();
  const { isAdmin } = useSelf();
  if (!model || model.state === "ready") return null;
  if (!isAdmin) {
    return (
      <p role="status" className="mx-4 mt-10 rounded-xl border border-line-2 bg-raised p-4 text-center text-sm text-ink-2">
        {t("onboarding.member")}
      </p>
    );
  }
  return (
    <section aria-labelledby="onboarding" className="mt-10 rounded-2xl border border-line-2 bg-raised p-6 max-md:p-4">
      <h2 id="onboarding" className="text-lg font-semibold">
        {t("onboarding.title")}
      </h2>
      <p className="mt-1 text-sm text-ink-2">{t("onboarding.hint")}</p>
      <ul className="mt-5 grid grid-cols-3 gap-3 max-lg:grid-cols-1">
        <Way icon={<Cpu aria-hidden />} title={t("onboarding.embedded")} text={t("onboarding.embedded.text")}>
          {model.state === "pulling" ? <PullProgress model={model} /> : <PullButton model={model} />}
        </Way>
        <Way icon={<PlugZap aria-hidden />} title={t("onboarding.connect")} text={t("onboarding.connect.text")}>
          <Link
            to="/settings"
            hash="openai"
            className="inline-flex h-9 items-center rounded-lg border border-line-2 bg-raised px-3.5 text-sm font-medium hover:border-ink-3 max-md:h-11"
          >
            {t("onboarding.connect.do")}
          </Link>
        </Way>
        <Way icon={<ScrollText aria-hidden />} title={t("onboarding.demo")} text={t("onboarding.demo.text")}>
          <Button busy={save.isPending} onClick={() => save.mutate({ provider: "scripted" })}>
            {t("onboarding.demo.do")}
          </Button>
        </Way>
      </ul>
    </section>
  );
}

interface WayProps {
  icon: ReactNode;
  title: string;
  text: string;
  children: ReactNode;
}

function Way({ icon, title, text, children }: WayProps) {
  return (
    <li className="flex flex-col rounded-xl border border-line bg-surface p-4">
      <span className="mb-2 text-accent [&_svg]:size-5">{icon}</span>
      <h3 className="font-semibold">{title}</h3>
      <p className="mt-1 mb-4 flex-1 text-[13px] text-ink-2">{text}</p>
      <div>{children}</div>
    </li>
  );
}
