import { isKey, useT } from "@/i18n/t";
import { usePathOf } from "../../tree/path-of";

/** What a call does, in a person's words: a title and the argument that says most. */
export function useToolWords(name: string, args: Readonly<Record<string, unknown>>): { title: string; about: string } {
  const t = useT();
  const key = `tool.${name}`;
  const title = isKey(key) ? t(key) : name;
  const pathOf = usePathOf();
  const file = typeof args.id === "string" ? pathOf(args.id) : undefined;
  const first = [file, args.path, args.title, args.expression, args.query, args.code].find((value) => typeof value === "string");
  const any = first ?? Object.values(args).find((value) => typeof value === "string");
  return { title, about: typeof any === "string" ? (any.trim().split("\n", 1)[0] ?? "") : "" };
}
