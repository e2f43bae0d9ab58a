import { X } from "lucide-react";
import { Dialog as Radix } from "radix-ui";
import type { ReactNode } from "react";
import { useT } from "@/i18n/t";
import { IconButton } from "./button";
import { cx } from "./cx";

interface Props {
  open: boolean;
  onOpenChange: (open: boolean) => void;
  title: string;
  description?: string;
  /** Hide the title from view (not from assistive technology), for a palette. */
  bare?: boolean;
  wide?: boolean;
  /** Nearly the whole window; all of it on a phone. */
  full?: boolean;
  /** There is no way out but to do what it asks for. */
  firm?: boolean;
  /** Where the focus goes afterwards, if a menu or nothing at all opened it. */
  opener?: () => HTMLElement | null | undefined;
  children: ReactNode;
}

export function Dialog(props: Props) {
  const { open, onOpenChange, title, description, bare = false, wide = false, full = false, firm = false, opener, children } = props;
  const t = useT();
  return (
    <Radix.Root open={open} onOpenChange={onOpenChange}>
      <Radix.Portal>
        <Radix.Overlay className="fixed inset-0 z-40 bg-[#1a1408]/30 dark:bg-[#000]/60" />
        <Radix.Content
          {...(description ? {} : { "aria-describedby": undefined })}
          // Asked only if nothing in here has the focus: what took it away meanwhile does not send it to a button.
          onOpenAutoFocus={(event) => {
            const field = (event.currentTarget as HTMLElement).querySelector<HTMLElement>("input, select, textarea");
            if (!field) return;
            event.preventDefault();
            field.focus();
          }}
          {...(opener && { onCloseAutoFocus: (event) => (event.preventDefault(), opener()?.focus()) })}
          className={cx(
            "animate-rise fixed z-40 flex flex-col border border-line bg-raised shadow-float focus:outline-none",
            full
              ? "inset-0 md:inset-6 md:rounded-2xl"
              : "left-1/2 max-h-[80dvh] w-[calc(100vw-2rem)] -translate-x-1/2 rounded-2xl",
            !full && (wide ? "max-w-2xl" : "max-w-md"),
            !full && (bare ? "top-[12dvh]" : "top-[18dvh]"),
          )}
        >
          <header className={bare ? "sr-only" : "flex items-start justify-between gap-4 px-5 pt-4"}>
            <div>
              <Radix.Title className="text-lg font-semibold">{title}</Radix.Title>
              {description && (
                <Radix.Description className="mt-1 text-sm text-ink-2">{description}</Radix.Description>
              )}
            </div>
            {!bare && !firm && (
              <Radix.Close asChild>
                <IconButton label={t("common.close")} className="-mr-2">
                  <X aria-hidden />
                </IconButton>
              </Radix.Close>
            )}
          </header>
          {children}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}
