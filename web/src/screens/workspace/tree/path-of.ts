import { useQuery } from "@tanstack/react-query";
import { useCallback } from "react";
import { filesQuery } from "@/api/queries";
import { useWorkspace } from "../context";

/** Where a file is that an agent names by its path or its id; "" for an id that leads nowhere. */
export function usePathOf(): (ref: string) => string {
  const { projectId } = useWorkspace();
  const { data } = useQuery(filesQuery(projectId));
  return useCallback(
    (ref: string) => data?.entries.find(({ id }) => id === ref)?.path ?? (/^fil_\w+$/.test(ref) ? "" : ref),
    [data],
  );
}
