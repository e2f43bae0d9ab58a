import { createContext, use } from "react";

export interface WorkspaceValue {
  projectId: string;
  /** null: the next message begins a new one. */
  sessionId: string | null;
  file: string | null;
  openSession: (id: string | null) => void;
  openFile: (path: string | null) => void;
}

export const WorkspaceContext = createContext<WorkspaceValue | null>(null);

export function useWorkspace(): WorkspaceValue {
  const value = use(WorkspaceContext);
  if (!value) throw new Error("outside of a workspace");
  return value;
}
