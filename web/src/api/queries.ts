import { QueryClient, queryOptions } from "@tanstack/react-query";
import type { Lang } from "@/i18n/t";
import { api, ApiError, ask } from "./client";
import { useLogin } from "./login";
import type { Version } from "./types";

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 10_000,
      // The server may be on this very machine: a browser without a network still reaches it.
      networkMode: "always",
      refetchOnReconnect: true,
      retry: (count, error) => count < 2 && error instanceof ApiError && (error.status === 0 || error.status >= 500),
    },
    mutations: { networkMode: "always" },
  },
});

export const keys = {
  account: ["account"] as const,
  apiKeys: ["api-keys"] as const,
  users: ["users"] as const,
  audit: ["audit"] as const,
  members: (pid: string) => ["members", pid] as const,
  projects: ["projects"] as const,
  files: (pid: string) => ["files", pid] as const,
  sessions: (pid: string) => ["sessions", pid] as const,
  versions: (pid: string) => ["versions", pid] as const,
  found: (pid: string) => ["found", pid] as const,
  templates: (lang: string) => ["templates", lang] as const,
  settings: ["settings"] as const,
  model: ["model"] as const,
  probe: ["probe"] as const,
};

export const projectsQuery = queryOptions({
  queryKey: keys.projects,
  queryFn: () => ask(api.GET("/api/projects")),
});

/** What a new project may begin with: it does not change while the server runs. */
export const templatesQuery = (language: Lang) =>
  queryOptions({
    queryKey: keys.templates(language),
    queryFn: () => ask(api.GET("/api/templates", { params: { query: { language } } })),
    staleTime: Infinity,
  });

export const filesQuery = (pid: string) =>
  queryOptions({
    queryKey: keys.files(pid),
    queryFn: () => ask(api.GET("/api/projects/{pid}/files", { params: { path: { pid } } })),
  });

export const sessionsQuery = (pid: string) =>
  queryOptions({
    queryKey: keys.sessions(pid),
    queryFn: () => ask(api.GET("/api/projects/{pid}/sessions", { params: { path: { pid } } })),
  });

export const versionsQuery = (pid: string, path: string) =>
  queryOptions({
    queryKey: [...keys.versions(pid), path],
    queryFn: () => ask(api.GET("/api/projects/{pid}/versions", { params: { path: { pid }, query: { path } } })),
  });

/** The text of a version. The `revision` names it, so that it need not be asked for twice. */
export const versionQuery = (pid: string, path: string, { n, revision }: Pick<Version, "n" | "revision">) =>
  queryOptions({
    queryKey: ["version", pid, path, n, revision],
    queryFn: () =>
      ask(api.GET("/api/projects/{pid}/versions/{n}", { params: { path: { pid, n }, query: { path } } })).then(
        ({ text }) => text,
      ),
    staleTime: Infinity,
  });

export const settingsQuery = queryOptions({
  queryKey: keys.settings,
  queryFn: () => ask(api.GET("/api/settings")),
});

/** Every second while something is going on; nobody is asked in vain while a login has ended. */
const everySecond = (isOn: boolean) => isOn && !useLogin.getState().isRequired && 1000;

/** Asks again every second while the model is being downloaded. */
export const modelQuery = queryOptions({
  queryKey: keys.model,
  queryFn: () => ask(api.GET("/api/model")),
  refetchInterval: (query) => everySecond(query.state.data?.state === "pulling"),
});

/** Asks again every second while probes run; what they found is in the settings then. */
export const probeQuery = queryOptions({
  queryKey: keys.probe,
  queryFn: () => ask(api.GET("/api/settings/probe")),
  refetchInterval: (query) => everySecond(query.state.data?.progress != null),
});

export function refresh(...which: (readonly string[])[]): void {
  for (const queryKey of which) void queryClient.invalidateQueries({ queryKey });
}
