import { useMutation, useQuery } from "@tanstack/react-query";
import { UserMinus } from "lucide-react";
import { useState } from "react";
import { membersQuery, useRole, useSelf } from "@/api/account";
import { api, ask } from "@/api/client";
import { keys, refresh } from "@/api/queries";
import type { Member, MemberRole } from "@/api/types";
import { errorWords } from "@/api/words";
import { useT, type T } from "@/i18n/t";
import { Button, IconButton } from "@/ui/button";
import { Confirm } from "@/ui/confirm";
import { Dialog } from "@/ui/dialog";
import { Field, Select } from "@/ui/field";
import { Form } from "@/ui/form";
import { Failed, Skeleton } from "@/ui/states";

const ROLES: readonly MemberRole[] = ["owner", "editor", "viewer"];
const PLACES = { user_not_found: "name", "": "name" } as const;

interface Props {
  projectId: string;
  title: string;
  opener: () => HTMLElement | null;
  onClose: () => void;
  /** One has left, and may see the project no more. */
  onLeft?: () => void;
}

/** Who takes part in a project. Owners decide that; anyone can leave. */
export function Members({ projectId, title, opener, onClose, onLeft }: Props) {
  const t = useT();
  const { user } = useSelf();
  const { data, error, refetch } = useQuery({ ...membersQuery(projectId), refetchOnMount: "always" });
  const isOwner = useRole(projectId) === "owner";
  const [leaving, setLeaving] = useState<Member | null>(null);
  const change = useMutation({
    mutationFn: ({ name, role }: Pick<Member, "name" | "role">) => put(projectId, name, role),
    onSettled: () => refresh(keys.members(projectId)),
  });
  const isMe = leaving?.user_id === user?.id;
  return (
    <Dialog open wide onOpenChange={(open) => !open && onClose()} opener={opener} title={t("members.of", { title })}>
      <div className="flex flex-col gap-4 overflow-y-auto px-5 pt-3 pb-5">
        {change.error && (
          <p role="alert" className="rounded-lg bg-bad-soft px-3 py-2 text-[13px] text-bad">
            {errorWords(change.error, t)}
          </p>
        )}
        {error && !data ? (
          <Failed error={error} onRetry={() => void refetch()} className="py-4" />
        ) : !data ? (
          <Skeleton className="h-24" />
        ) : (
          <ul aria-label={t("members.title")} className="flex flex-col divide-y divide-line">
            {data.map((each) => (
              <Row
                key={each.user_id}
                member={each}
                isMe={each.user_id === user?.id}
                isOwner={isOwner}
                onRole={(role) => change.mutate({ name: each.name, role })}
                onRemove={() => setLeaving(each)}
              />
            ))}
          </ul>
        )}
        {data?.length === 0 && <p className="text-sm text-ink-3">{t("members.empty")}</p>}
        {isOwner && data && <Invite projectId={projectId} isFirst={data.length === 0} />}
        {!isOwner && data && <p className="text-[13px] text-ink-3">{t("members.hint")}</p>}
      </div>
      {leaving && (
        <Confirm
          title={isMe ? t("members.leave") : t("members.remove", { name: leaving.name })}
          text={isMe ? t("members.leave.text") : t("members.remove.text", { name: leaving.name })}
          confirm={isMe ? t("members.leave") : t("members.remove.do")}
          onClose={() => setLeaving(null)}
          onConfirm={async () => {
            const path = { pid: projectId, uid: leaving.user_id };
            await ask(api.DELETE("/api/projects/{pid}/members/{uid}", { params: { path } }));
            refresh(keys.projects);
            if (!isMe) return refresh(keys.members(projectId));
            onClose();
            onLeft?.();
          }}
        />
      )}
    </Dialog>
  );
}

function put(pid: string, name: string, role: MemberRole) {
  return ask(api.PUT("/api/projects/{pid}/members", { params: { path: { pid } }, body: { name, role } }));
}

const options = (t: T) => ROLES.map((value) => ({ value, label: t(`member.${value}`) }));

interface RowProps {
  member: Member;
  isMe: boolean;
  isOwner: boolean;
  onRole: (role: MemberRole) => void;
  onRemove: () => void;
}

function Row({ member, isMe, isOwner, onRole, onRemove }: RowProps) {
  const t = useT();
  return (
    <li className="flex flex-wrap items-center gap-2 py-2">
      <span className="min-w-24 flex-1 truncate text-sm font-medium" title={member.name}>
        {member.name}
        {isMe && <span className="ml-1.5 font-normal text-ink-3">{t("members.you")}</span>}
      </span>
      {isOwner ? (
        <Select bare label={t("members.role.of", { name: member.name })} value={member.role} options={options(t)} onChange={onRole} />
      ) : (
        <span className="text-sm text-ink-2">{t(`member.${member.role}`)}</span>
      )}
      {isMe ? (
        <Button size="s" onClick={onRemove}>
          {t("members.leave")}
        </Button>
      ) : (
        isOwner && (
          <IconButton label={t("members.remove", { name: member.name })} onClick={onRemove}>
            <UserMinus aria-hidden />
          </IconButton>
        )
      )}
    </li>
  );
}

function Invite({ projectId, isFirst }: { projectId: string; isFirst: boolean }) {
  const t = useT();
  const [name, setName] = useState("");
  const [role, setRole] = useState<MemberRole>(isFirst ? "owner" : "editor");
  const add = useMutation({
    mutationFn: () => put(projectId, name.trim(), role),
    onSuccess: () => {
      setName("");
      refresh(keys.members(projectId));
    },
  });
  return (
    <Form
      error={add.error}
      places={PLACES}
      onSubmit={() => name.trim() && !add.isPending && add.mutate()}
      onEdit={add.reset}
      className="border-t border-line pt-4"
    >
      {(problem) => (
        <div className="flex items-start gap-2 max-md:flex-col max-md:items-stretch">
          <Field
            className="min-w-0 flex-1"
            label={t("members.name")}
            hint={t("members.name.hint")}
            problem={problem("name")}
            value={name}
            autoComplete="off"
            autoCapitalize="off"
            spellCheck={false}
            maxLength={200}
            onChange={(event) => setName(event.target.value)}
          />
          <Select label={t("members.role")} value={role} options={options(t)} onChange={setRole} />
          <Button type="submit" look="primary" className="md:mt-7" busy={add.isPending} disabled={!name.trim()}>
            {t("members.add")}
          </Button>
        </div>
      )}
    </Form>
  );
}
