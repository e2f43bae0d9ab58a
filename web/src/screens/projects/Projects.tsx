import { useQuery } from "@tanstack/react-query";
import { useEffect } from "react";
import { projectsQuery } from "@/api/queries";
import type { Project } from "@/api/types";
import { useT } from "@/i18n/t";
import { useNow } from "@/lib/now";
import { Onboarding } from "@/screens/onboarding/Onboarding";
import { TopBar } from "@/screens/TopBar";
import { Empty, Failed, Skeleton } from "@/ui/states";
import { NewProject } from "./NewProject";
import { ProjectCard } from "./ProjectCard";

export function Projects() {
  const t = useT();
  const title = t("brand.title");
  useEffect(() => {
    document.title = title;
  }, [title]);
  return (
    <div className="flex min-h-full flex-col">
      <TopBar />
      <main className="mx-auto w-full max-w-4xl flex-1 px-5 pt-[7vh] pb-16">
        <h1 className="text-center text-3xl font-semibold tracking-wide max-md:text-2xl">{t("projects.title")}</h1>
        <NewProject />
        <Onboarding />
        <ProjectList />
      </main>
    </div>
  );
}

function ProjectList() {
  const t = useT();
  const { data, error, isPending, refetch } = useQuery({ ...projectsQuery, refetchOnMount: "always" });
  const now = useNow(30_000);
  return (
    <section aria-labelledby="recent" className="mt-12">
      <h2 id="recent" className="mb-3 font-sans text-sm font-medium text-ink-3">
        {t("projects.recent")}
      </h2>
      {isPending ? (
        <Loading />
      ) : error ? (
        <Failed error={error} onRetry={() => void refetch()} />
      ) : data.length === 0 ? (
        <Empty title={t("projects.empty")} hint={t("projects.empty.hint")} />
      ) : (
        <Cards projects={data} now={now} />
      )}
    </section>
  );
}

function Cards({ projects, now }: { projects: readonly Project[]; now: number }) {
  return (
    <ul className="grid grid-cols-3 gap-4 max-md:grid-cols-1 max-lg:grid-cols-2">
      {projects.map((project) => (
        <li key={project.id}>
          <ProjectCard project={project} now={now} />
        </li>
      ))}
    </ul>
  );
}

function Loading() {
  const t = useT();
  return (
    <div role="status" className="grid grid-cols-3 gap-4 max-md:grid-cols-1 max-lg:grid-cols-2">
      <span className="sr-only">{t("common.loading")}</span>
      <Skeleton className="h-28" />
      <Skeleton className="h-28" />
      <Skeleton className="h-28" />
    </div>
  );
}
