import { queryOptions, useQuery } from "@tanstack/react-query";
import { createContext, use } from "react";
import { api, ask } from "./client";
import { useLogin } from "./login";
import { keys, queryClient } from "./queries";
import type { Account, Me, MemberRole } from "./types";

/** Whether one has to log in here, and who has. Without accounts that never changes. */
export const accountQuery = queryOptions({
  queryKey: keys.account,
  queryFn: async () => {
    const account = await ask(api.GET("/api/account"));
    // Back again, by another tab perhaps; somebody else is not who was asked for.
    if (account.user && account.user.id === whoseEnded) useLogin.setState({ isRequired: false });
    return account;
  },
  staleTime: (query) => (query.state.data?.mode === "local" ? Infinity : 10_000),
});

export const membersQuery = (pid: string) =>
  queryOptions({
    queryKey: keys.members(pid),
    queryFn: () => ask(api.GET("/api/projects/{pid}/members", { params: { path: { pid } } })),
  });

export const usersQuery = queryOptions({
  queryKey: keys.users,
  queryFn: () => ask(api.GET("/api/users")),
});

export const apiKeysQuery = queryOptions({
  queryKey: keys.apiKeys,
  queryFn: () => ask(api.GET("/api/account/keys")),
});

/** Someone has logged in: the server's answer, kept without asking again. */
export function enter(user: Me): void {
  queryClient.setQueryData<Account>(keys.account, { mode: "accounts", needs_setup: false, user });
  useLogin.setState({ isRequired: false });
}

let whoseEnded: string | null = null;

// A login that has ended is nobody's; asked again in case another tab has logged in meanwhile.
useLogin.subscribe((now, before) => {
  if (!now.isRequired || before.isRequired) return;
  queryClient.setQueryData<Account>(keys.account, (old) => {
    whoseEnded = old?.user?.id ?? whoseEnded;
    return old && { ...old, user: null };
  });
  void queryClient.invalidateQueries({ queryKey: keys.account });
});

interface Self {
  hasAccounts: boolean;
  /** Null without accounts, and before the login. */
  user: Me | null;
  /** May change what is the server's. Without accounts everyone may. */
  isAdmin: boolean;
}

export const LOCAL: Self = { hasAccounts: false, user: null, isAdmin: true };

export const SelfContext = createContext<Self>(LOCAL);

/** Who uses the studio; the same while a login has ended, so that nothing on the screen goes. */
export function useSelf(): Self {
  return use(SelfContext);
}

/** What one is in a project; null while that is not known. */
export function useRole(pid: string): MemberRole | null {
  const { hasAccounts, user, isAdmin } = useSelf();
  const { data } = useQuery({ ...membersQuery(pid), enabled: hasAccounts });
  if (!hasAccounts) return "owner";
  const mine = data?.find((each) => each.user_id === user?.id)?.role;
  // What nobody takes part in was made on the server's own machine, and is the admins'.
  return mine ?? (isAdmin && data?.length === 0 ? "owner" : null);
}

export function useIsViewer(pid: string): boolean {
  return useRole(pid) === "viewer";
}
