import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { api, ask } from "@/api/client";
import { keys, refresh } from "@/api/queries";
import { onFileChanged } from "@/run/follow";
import { saveAll } from "../editor/saving";

/** So long a person stops typing before the project is read. */
const IDLE_MS = 250;
/** So long nothing may change before what was found is looked up again. */
const QUIET_MS = 500;

/**
 * What stands where in the project. A new phrase waits for a pause in typing (`isPaused` while a character
 * is composed) and ends the request for the one before; until its answer comes, the old one stays.
 */
export function useFound(pid: string, phrase: string, matchCase: boolean, isPaused: boolean) {
  const [wanted, setWanted] = useState(phrase);
  useEffect(() => {
    if (isPaused) return undefined;
    const timer = setTimeout(() => setWanted(phrase), phrase ? IDLE_MS : 0);
    return () => clearTimeout(timer);
  }, [phrase, isPaused]);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const stop = onFileChanged(() => {
      clearTimeout(timer);
      timer = setTimeout(() => refresh(keys.found(pid)), QUIET_MS);
    });
    return () => {
      clearTimeout(timer);
      stop();
    };
  }, [pid]);
  const query = useQuery({
    queryKey: [...keys.found(pid), wanted, matchCase],
    queryFn: async ({ signal }) => {
      await saveAll(); // what is seen in the editor is found too
      const asked = { path: { pid }, query: { phrase: wanted, match_case: matchCase } };
      return ask(api.GET("/api/projects/{pid}/find", { params: asked, signal }));
    },
    enabled: wanted !== "",
    placeholderData: keepPreviousData,
  });
  const isSettled = wanted === phrase && !query.isPlaceholderData;
  return { ...query, data: wanted === "" ? undefined : query.data, isSettled, searchNow: () => setWanted(phrase) };
}
