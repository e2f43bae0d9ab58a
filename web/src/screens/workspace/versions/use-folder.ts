import { useQuery } from "@tanstack/react-query";
import { projectsQuery } from "@/api/queries";

/** The folder of the disk that has the project's files, "" if they are in the database with their versions. */
export function useFolder(projectId: string): string {
  return useQuery(projectsQuery).data?.find((project) => project.id === projectId)?.path ?? "";
}
