import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { usersQuery, useSelf } from "@/api/account";
import { api, ask } from "@/api/client";
import { keys, projectsQuery } from "@/api/queries";
import type { AuditEntry } from "@/api/types";
import { isKey, useLang, useT, type T } from "@/i18n/t";
import { formatMoment } from "@/lib/format";
import { Page } from "@/screens/Page";
import { NotFound } from "@/screens/Root";
import { Button } from "@/ui/button";
import { Empty, Failed, Skeleton } from "@/ui/states";

/** How many the server gives at a time; fewer are the last. */
const MOST = 100;

/** Who did what to accounts, members and settings; newest first. */
export function Audit() {
  const t = useT();
  const { isAdmin, hasAccounts } = useSelf();
  const isOpen = isAdmin && hasAccounts;
  const log = useInfiniteQuery({
    queryKey: keys.audit,
    enabled: isOpen,
    refetchOnMount: "always",
    initialPageParam: null as number | null,
    queryFn: ({ pageParam }) => ask(api.GET("/api/audit", { params: { query: pageParam === null ? {} : { before: pageParam } } })),
    getNextPageParam: (last) => (last.length < MOST ? null : (last.at(-1)?.n ?? null)),
  });
  const names = useNames(isOpen);
  if (!isOpen) return <NotFound />;
  const entries = log.data?.pages.flat() ?? [];
  return (
    <Page title={t("audit.title")} hint={t("audit.hint")}>
      {log.isPending ? (
        <Skeleton className="mt-6 h-64" />
      ) : log.error && entries.length === 0 ? (
        <Failed error={log.error} onRetry={() => void log.refetch()} />
      ) : entries.length === 0 ? (
        <Empty title={t("audit.empty")} />
      ) : (
        <ol aria-label={t("audit.title")} className="mt-6 flex flex-col divide-y divide-line border-y border-line">
          {entries.map((each) => (
            <Row key={each.n} entry={each} names={names} />
          ))}
        </ol>
      )}
      {log.isFetchNextPageError && <Failed error={log.error} onRetry={() => void log.fetchNextPage()} className="py-4" />}
      {log.hasNextPage && !log.isFetchNextPageError && (
        <div className="mt-4 text-center">
          <Button busy={log.isFetchingNextPage} onClick={() => void log.fetchNextPage()}>
            {t("audit.more")}
          </Button>
        </div>
      )}
    </Page>
  );
}

type Names = ReadonlyMap<string, string>;

/** The log keeps ids; a person reads names, as far as one may see them. */
function useNames(isOpen: boolean): Names {
  const users = useQuery({ ...usersQuery, enabled: isOpen }).data ?? [];
  const projects = useQuery({ ...projectsQuery, enabled: isOpen }).data ?? [];
  return new Map([...users.map(({ id, name }) => [id, name] as const), ...projects.map(({ id, title }) => [id, title] as const)]);
}

function Row({ entry, names }: { entry: AuditEntry; names: Names }) {
  const t = useT();
  const lang = useLang();
  const target = entry.action.startsWith("key.") ? "" : named(entry.target, names); // nobody knows a key by its id
  // Whoever logs in does it to oneself: that need not be said.
  const about = [target === entry.user ? "" : target, named(entry.detail, names, t)].filter(Boolean).join(" · ");
  return (
    <li className="py-2.5 text-sm">
      <p className="break-words">
        <span className="font-medium">{entry.user || t("audit.nobody")}</span> <span>{words(entry.action, t)}</span>
        {about && <span className="text-ink-2">{` ${about}`}</span>}
      </p>
      <p className="tabular mt-0.5 text-[13px] text-ink-3">
        <time dateTime={new Date(entry.at * 1000).toISOString()}>{formatMoment(entry.at, lang)}</time>
        {entry.address && <span>{` · ${entry.address}`}</span>}
      </p>
    </li>
  );
}

function words(action: string, t: T): string {
  const key = `audit.${action}`;
  return isKey(key) ? t(key) : action;
}

/** Ids as names; with `t`, roles as words too. */
function named(text: string, names: Names, t?: T): string {
  return text
    .split(" ")
    .map((part) => {
      const role = [`member.${part}`, `role.${part}`, `scope.${part}`].find(isKey);
      return names.get(part) ?? (t && role ? t(role) : part);
    })
    .join(" ");
}
