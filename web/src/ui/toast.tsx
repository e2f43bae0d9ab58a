import { Toaster as Sonner, toast } from "sonner";
import { errorWords } from "@/api/words";
import { t, useT } from "@/i18n/t";
import { useTheme } from "@/lib/theme";

export function Toaster() {
  const theme = useTheme((state) => state.theme);
  const label = useT()("common.notifications");
  return (
    <Sonner
      theme={theme}
      containerAriaLabel={label}
      position="bottom-center"
      toastOptions={{
        style: {
          background: "var(--raised)",
          color: "var(--ink)",
          borderColor: "var(--line)",
          boxShadow: "var(--shadow)",
          fontFamily: "var(--font-sans)",
        },
        actionButtonStyle: { background: "var(--accent)", color: "var(--accent-ink)" },
      }}
    />
  );
}

export function toastError(error: unknown): void {
  toast.error(errorWords(error, t));
}

export function toastDone(message: string): void {
  toast.success(message);
}

export function toastWarning(message: string): void {
  toast.warning(message);
}

/** Say what was done and offer the way back. The same `id` again takes the place of the one before. */
export function toastUndo(message: string, undo: () => Promise<unknown>, id?: string): void {
  toast(message, {
    ...(id !== undefined && { id }),
    duration: 8000,
    action: { label: t("common.undo"), onClick: () => void undo().catch(toastError) },
  });
}
