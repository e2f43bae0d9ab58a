import type { Version } from "@/api/types";

/** The version that a run found when it first wrote the file, null if it made the file; undefined if it never wrote it. */
export function baseOf(versions: readonly Version[], runId: string): Version | null | undefined {
  const first = versions.filter((each) => each.run_id === runId).reduce<Version | undefined>(
    (oldest, each) => (oldest && oldest.n < each.n ? oldest : each),
    undefined,
  );
  return first && parentOf(versions, first);
}

/** The version that another was made from, null if it was made from nothing. */
export function parentOf(versions: readonly Version[], { parent }: Version): Version | null {
  return versions.find((each) => each.n === parent) ?? null;
}

/** The newest version, if it is what the file holds now (VR-5). */
export function currentOf(versions: readonly Version[], revision: string | null | undefined): Version | null {
  const newest = versions[0];
  return newest && newest.revision === revision ? newest : null;
}
