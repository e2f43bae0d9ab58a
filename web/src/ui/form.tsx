import { useEffect, useRef, type ReactNode } from "react";
import { ApiError } from "@/api/client";
import { errorWords } from "@/api/words";
import { useT } from "@/i18n/t";
import { useIme } from "@/lib/ime";
import { cx } from "./cx";

interface Props<F extends string> {
  /** What went wrong last, null if nothing did. */
  error: unknown;
  /** Beside which field a code of the server is said; all others are said above. */
  places: Readonly<Record<string, F>>;
  onSubmit: () => void;
  /** Something was changed: what went wrong is of the past. */
  onEdit: () => void;
  className?: string;
  children: (problem: (field: F) => string | null) => ReactNode;
}

/** Fields that are sent together. After a failure the focus is where it can be mended. */
export function Form<F extends string>({ error, places, onSubmit, onEdit, className, children }: Props<F>) {
  const t = useT();
  const ime = useIme();
  const form = useRef<HTMLFormElement>(null);
  const place = error === null ? null : placeOf(error, places);
  useEffect(() => {
    if (error !== null) form.current?.querySelector<HTMLElement>("[aria-invalid=true]")?.focus();
  }, [error]);
  // The Enter that confirms a candidate sends nothing.
  useEffect(() => {
    const node = form.current;
    const guard = (event: KeyboardEvent) => event.key === "Enter" && ime.owns(event) && event.preventDefault();
    node?.addEventListener("keydown", guard);
    return () => node?.removeEventListener("keydown", guard);
  }, [ime]);
  return (
    <form
      ref={form}
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        onSubmit();
      }}
      onChange={onEdit}
      {...ime.props}
      className={cx("flex flex-col gap-4", className)}
    >
      {error !== null && place === null && (
        <p role="alert" className="rounded-lg bg-bad-soft px-3 py-2 text-[13px] text-bad">
          {errorWords(error, t)}
        </p>
      )}
      {children((field) => (place === field ? errorWords(error, t) : null))}
    </form>
  );
}

function placeOf<F extends string>(error: unknown, places: Readonly<Record<string, F>>): F | null {
  if (!(error instanceof ApiError)) return null;
  const named = error.code === "invalid_request" ? Object.values(places).find((each) => each === error.params.field) : undefined;
  return named ?? places[error.code] ?? null;
}
