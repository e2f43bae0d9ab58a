import { useQuery } from "@tanstack/react-query";
import { useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { Suspense, useEffect, useState } from "react";
import { ApiError } from "@/api/client";
import { projectsQuery, sessionsQuery } from "@/api/queries";
import { useT } from "@/i18n/t";
import { useHotkeys } from "@/lib/hotkeys";
import { late } from "@/lib/late";
import { useNarrow } from "@/lib/media";
import { follow, onFileChanged } from "@/run/follow";
import { NotFound, ScreenError } from "@/screens/Root";
import { useRuns } from "@/run/store";
import { Desk } from "./Desk";
import { Header } from "./Header";
import { Mobile, type Tab } from "./Mobile";
import { Palette } from "./Palette";
import { Shortcuts } from "./Shortcuts";
import { WorkspaceContext, type WorkspaceValue } from "./context";
import { wantPlace } from "./editor/place";
import { saveAll } from "./editor/saving";
import { forgetFinding, selectedPhrase, startFinding } from "./find/store";
import { movedPath } from "./moved";
import { openVersions, resetHistory, useHistory } from "./versions/store";

const Versions = late(() => import("./versions/Versions").then((module) => module.Versions));

export function Workspace() {
  const { pid } = useParams({ from: "/p/$pid" });
  const isGone = useRuns((state) => state.link === "gone" && state.projectId === pid);
  const { error, data, refetch } = useQuery(sessionsQuery(pid));
  if (isGone || (error instanceof ApiError && error.status === 404)) return <NotFound />;
  if (error && !data) return <ScreenError error={error} reset={() => void refetch()} />;
  return <Room key={pid} pid={pid} />;
}

function Room({ pid }: { pid: string }) {
  const t = useT();
  const narrow = useNarrow();
  const [overlay, setOverlay] = useState<"palette" | "shortcuts" | null>(null);
  const isPast = useHistory((state) => state.isOpen);
  const { f } = useSearch({ from: "/p/$pid" });
  const [tab, setTab] = useState<Tab>(f === undefined ? "chat" : "editor");
  const value = useWorkspaceValue(pid, setTab);
  const title = useQuery(projectsQuery).data?.find((project) => project.id === pid)?.title ?? "";

  useEffect(() => {
    document.title = title ? `${title} · ${t("brand.name")}` : t("brand.title");
  });
  useEffect(() => forgetFinding, []);
  useHotkeys({
    "mod+P": () => setOverlay("palette"),
    "mod+shift+F": () => {
      if (overlay === null && document.querySelector("[role=dialog]")) return; // it asks for something first
      setOverlay(null);
      value.openFind(selectedPhrase());
    },
    "mod+/": () => setOverlay("shortcuts"),
    "mod+S": () => void saveAll(),
    "mod+shift+H": () => openVersions(),
  });
  useEffect(() => resetHistory, []);
  return (
    <WorkspaceContext value={value}>
      <div className="flex h-dvh flex-col overflow-hidden">
        <Header title={title} onPalette={() => setOverlay("palette")} onShortcuts={() => setOverlay("shortcuts")} />
        <main className="min-h-0 flex-1">
          <h1 className="sr-only">{title}</h1>
          {narrow ? <Mobile tab={tab} onTab={setTab} /> : <Desk />}
        </main>
        <Suspense>{isPast && <Versions />}</Suspense>
        {overlay === "palette" && <Palette onClose={() => setOverlay(null)} />}
        {overlay === "shortcuts" && <Shortcuts onClose={() => setOverlay(null)} />}
      </div>
    </WorkspaceContext>
  );
}

function useWorkspaceValue(pid: string, onTab: (tab: Tab) => void): WorkspaceValue {
  const { s, f } = useSearch({ from: "/p/$pid" });
  const navigate = useNavigate({ from: "/p/$pid" });
  const sessions = useQuery(sessionsQuery(pid));
  const isLost = useRuns((state) => state.link === "lost" && state.sessionId === s);
  const newest = sessions.isSuccess && !sessions.isFetching ? (sessions.data[0]?.id ?? "new") : undefined;
  const sessionId = s === undefined || s === "new" ? null : s;

  // The session is named in the address, so that a newer one from elsewhere does not push it aside.
  useEffect(() => {
    if (newest === undefined || (s !== undefined && !isLost)) return;
    void navigate({ search: (old) => ({ ...old, s: newest === s ? "new" : newest }), replace: true });
  }, [s, newest, isLost, navigate]);
  useEffect(() => (s === undefined ? undefined : follow(pid, sessionId)), [pid, s, sessionId]);
  useEffect(
    () =>
      onFileChanged((event) => {
        const moved = event.change === "renamed" && event.to ? movedPath(f, event.path, event.to) : null;
        if (moved) void navigate({ search: (old) => ({ ...old, f: moved }), replace: true });
      }),
    [f, navigate],
  );
  const show = (path: string | null) => {
    void navigate({ search: (old) => ({ ...(old.s && { s: old.s }), ...(path !== null && { f: path }) }) });
    if (path !== null) onTab("editor");
  };
  return {
    projectId: pid,
    sessionId,
    file: f ?? null,
    openSession: (id) => void navigate({ search: (old) => ({ ...old, s: id ?? "new" }) }),
    openFile: (path) => {
      wantPlace(null);
      show(path);
    },
    openAt: (path, place) => {
      wantPlace({ path, place });
      show(path);
    },
    openFind: (phrase) => {
      startFinding(phrase);
      onTab("files");
    },
  };
}
