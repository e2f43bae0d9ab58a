import { useQuery } from "@tanstack/react-query";
import { Suspense, useEffect, useMemo, useState, type ReactNode } from "react";
import { accountQuery, LOCAL, SelfContext } from "@/api/account";
import { useLogin } from "@/api/login";
import { queryClient } from "@/api/queries";
import type { Me } from "@/api/types";
import { late } from "@/lib/late";
import { saveAll } from "@/screens/workspace/editor/saving";
import { Failed } from "@/ui/states";

const Login = late(() => import("./Login").then((module) => module.Login));
const SetUp = late(() => import("./SetUp").then((module) => module.SetUp));
const LoginEnded = late(() => import("./LoginEnded").then((module) => module.LoginEnded));

/**
 * Lets in who may use the studio. When a login ends, everything stays where it is, and a dialog asks for
 * the same person's password again; another person begins with an empty page.
 */
export function Gate({ children }: { children: ReactNode }) {
  const { data, error, refetch } = useQuery(accountQuery);
  const [me, setMe] = useState<Me | null>(null);
  const user = data?.user ?? null;
  if (user && user !== me && (me === null || me.id === user.id)) setMe(user);
  const isEnded = me !== null && user?.id !== me.id;
  useGoingOn(useLogin((state) => state.isRequired) || isEnded);
  const self = useMemo(
    () => (data?.mode === "local" ? LOCAL : { hasAccounts: true, user: me, isAdmin: me?.role === "admin" }),
    [data?.mode, me],
  );
  if (!data) {
    return error ? (
      <main className="grid h-full place-items-center">
        <Failed error={error} onRetry={() => void refetch()} />
      </main>
    ) : null;
  }
  if (data.mode === "accounts" && me === null) {
    return (
      <SelfContext value={self}>
        <Suspense>{data.needs_setup ? <SetUp /> : <Login />}</Suspense>
      </SelfContext>
    );
  }
  return (
    <SelfContext value={self}>
      {children}
      <Suspense>{isEnded && <LoginEnded me={me} />}</Suspense>
    </SelfContext>
  );
}

/** After a login that ended: what was refused meanwhile is asked for and saved again. */
function useGoingOn(isOut: boolean): void {
  useEffect(() => {
    if (!isOut) return undefined;
    return () => {
      void queryClient.invalidateQueries();
      void saveAll();
    };
  }, [isOut]);
}
