import { createContext, use } from "react";
import type { Place } from "./editor/place";

export interface WorkspaceValue {
  projectId: string;
  /** null: the next message begins a new one. */
  sessionId: string | null;
  file: string | null;
  openSession: (id: string | null) => void;
  openFile: (path: string | null) => void;
  /** Open a file with what stands at a place selected. */
  openAt: (path: string, place: Place) => void;
  /** Look for a phrase in the project, or for what was looked for last. */
  openFind: (phrase?: string) => void;
}

export const WorkspaceContext = createContext<WorkspaceValue | null>(null);

export function useWorkspace(): WorkspaceValue {
  const value = use(WorkspaceContext);
  if (!value) throw new Error("outside of a workspace");
  return value;
}
