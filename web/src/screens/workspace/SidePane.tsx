import { Suspense } from "react";
import { late } from "@/lib/late";
import { Skeleton } from "@/ui/states";
import { useFinding } from "./find/store";
import { FilePane } from "./tree/FilePane";

const FindPane = late(() => import("./find/FindPane").then((module) => module.FindPane));

/** The files of the project, or what was found in them. The tree stays as it is meanwhile. */
export function SidePane() {
  const isFinding = useFinding((state) => state.isOpen);
  return (
    <>
      <div className={isFinding ? "hidden" : "h-full"}>
        <FilePane />
      </div>
      {isFinding && (
        <Suspense fallback={<Skeleton className="m-4 h-8" />}>
          <FindPane />
        </Suspense>
      )}
    </>
  );
}
