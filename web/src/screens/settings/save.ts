import { useMutation } from "@tanstack/react-query";
import { api, ask } from "@/api/client";
import { keys, queryClient, refresh } from "@/api/queries";
import type { SettingsIn } from "@/api/types";
import { toastError } from "@/ui/toast";

/** Fields that are left out stay as they are. */
export function useSaveSettings() {
  return useMutation({
    mutationFn: (change: SettingsIn) => ask(api.PUT("/api/settings", { body: change })),
    onSuccess: (settings) => {
      queryClient.setQueryData(keys.settings, settings);
      refresh(keys.model, keys.probe);
    },
    onError: toastError,
  });
}
