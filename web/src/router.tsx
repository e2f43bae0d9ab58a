import { createRootRoute, createRoute, createRouter, lazyRouteComponent } from "@tanstack/react-router";
import { Projects } from "@/screens/projects/Projects";
import { NotFound, Root, ScreenError } from "@/screens/Root";

const root = createRootRoute({ component: Root, notFoundComponent: NotFound, errorComponent: ScreenError });

const projects = createRoute({ getParentRoute: () => root, path: "/", component: Projects });

interface WorkspaceSearch {
  /** The open session; "new" is one that begins with the first message. */
  s?: string;
  /** The open file. */
  f?: string;
}

const text = (value: unknown) => (typeof value === "string" && value ? value : undefined);

const workspace = createRoute({
  getParentRoute: () => root,
  path: "/p/$pid",
  validateSearch: (search: Record<string, unknown>): WorkspaceSearch => {
    const [s, f] = [text(search.s), text(search.f)];
    return { ...(s && { s }), ...(f && { f }) };
  },
  component: lazyRouteComponent(() => import("@/screens/workspace/Workspace"), "Workspace"),
});

const settings = createRoute({
  getParentRoute: () => root,
  path: "/settings",
  component: lazyRouteComponent(() => import("@/screens/settings/Settings"), "Settings"),
});

const users = createRoute({
  getParentRoute: () => root,
  path: "/users",
  component: lazyRouteComponent(() => import("@/screens/users/Users"), "Users"),
});

const audit = createRoute({
  getParentRoute: () => root,
  path: "/audit",
  component: lazyRouteComponent(() => import("@/screens/users/Audit"), "Audit"),
});

export const router = createRouter({
  routeTree: root.addChildren([projects, workspace, settings, users, audit]),
  defaultPreload: "intent",
  scrollRestoration: true,
});

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
}
