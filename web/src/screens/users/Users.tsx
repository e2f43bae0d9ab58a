import { useMutation, useQuery } from "@tanstack/react-query";
import { Ban, CircleCheck, Ellipsis, RectangleEllipsis } from "lucide-react";
import { useRef, useState } from "react";
import { usersQuery, useSelf } from "@/api/account";
import { api, ask } from "@/api/client";
import { keys, refresh } from "@/api/queries";
import type { Role, User } from "@/api/types";
import { useLang, useT } from "@/i18n/t";
import { formatDay } from "@/lib/format";
import { Page } from "@/screens/Page";
import { NotFound } from "@/screens/Root";
import { Button, IconButton } from "@/ui/button";
import { cx } from "@/ui/cx";
import { Select } from "@/ui/field";
import { Menu } from "@/ui/menu";
import { Failed, Skeleton } from "@/ui/states";
import { toastError } from "@/ui/toast";
import { NewUser } from "./NewUser";
import { SetPassword } from "./SetPassword";

const ROLES: readonly Role[] = ["member", "admin"];

/** Everyone with an account. Users are disabled, never deleted: what they did keeps their name. */
export function Users() {
  const t = useT();
  const { isAdmin, hasAccounts } = useSelf();
  const { data, error, refetch } = useQuery({ ...usersQuery, enabled: hasAccounts && isAdmin, refetchOnMount: "always" });
  const [isAdding, setAdding] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  if (!hasAccounts || !isAdmin) return <NotFound />;
  const add = (
    <Button ref={button} look="primary" onClick={() => setAdding(true)}>
      {t("users.new")}
    </Button>
  );
  return (
    <Page title={t("users.title")} hint={t("users.hint")} action={add}>
      {error && !data ? (
        <Failed error={error} onRetry={() => void refetch()} />
      ) : !data ? (
        <Skeleton className="mt-6 h-40" />
      ) : (
        <ul aria-label={t("users.title")} className="mt-6 flex flex-col divide-y divide-line border-y border-line">
          {data.map((user) => (
            <Row key={user.id} user={user} />
          ))}
        </ul>
      )}
      {isAdding && <NewUser opener={() => button.current} onClose={() => setAdding(false)} />}
    </Page>
  );
}

function Row({ user }: { user: User }) {
  const t = useT();
  const lang = useLang();
  const isMe = useSelf().user?.id === user.id;
  const more = useRef<HTMLButtonElement>(null);
  const [isSetting, setSetting] = useState(false);
  const change = useMutation({
    mutationFn: (body: { role?: Role; enabled?: boolean }) =>
      ask(api.PATCH("/api/users/{uid}", { params: { path: { uid: user.id } }, body })),
    onError: toastError,
    // One's own role may have changed as well.
    onSettled: () => refresh(keys.users, keys.account),
  });
  return (
    <li className="flex items-center gap-3 py-3">
      <div className="min-w-0 flex-1">
        <p className={cx("truncate font-medium", !user.enabled && "text-ink-3")} title={user.name}>
          {user.name}
          {isMe && <span className="ml-1.5 text-sm font-normal text-ink-3">{t("members.you")}</span>}
        </p>
        <p className="text-[13px] text-ink-3">
          {!user.enabled && <span className="mr-2 rounded bg-warn-soft px-1.5 py-0.5 text-warn">{t("users.disabled")}</span>}
          {t("users.since", { day: formatDay(user.created_at, lang) })}
        </p>
      </div>
      <Select
        bare
        label={t("users.role.of", { name: user.name })}
        value={user.role}
        disabled={change.isPending}
        options={ROLES.map((value) => ({ value, label: t(`role.${value}`) }))}
        onChange={(role) => change.mutate({ role })}
      />
      <Menu
        keepFocus={isSetting}
        items={[
          { label: t("users.password"), icon: <RectangleEllipsis aria-hidden />, onSelect: () => setSetting(true) },
          user.enabled
            ? { label: t("users.disable"), icon: <Ban aria-hidden />, danger: true, onSelect: () => change.mutate({ enabled: false }) }
            : { label: t("users.enable"), icon: <CircleCheck aria-hidden />, onSelect: () => change.mutate({ enabled: true }) },
        ]}
      >
        <IconButton ref={more} label={t("projects.more", { title: user.name })}>
          <Ellipsis aria-hidden />
        </IconButton>
      </Menu>
      {isSetting && <SetPassword user={user} opener={() => more.current} onClose={() => setSetting(false)} />}
    </li>
  );
}
