import { redecorates } from "./redecorate";

function onKey(event: KeyboardEvent): void {
  if (event.key !== "Enter" && event.key !== " ") return;
  event.preventDefault();
  event.stopPropagation();
  (event.currentTarget as HTMLElement).click();
}

/** Makes the stretches that are folded away buttons, for the keyboard and for those who listen. */
export const unfoldsByKey = redecorates((view) => {
  for (const folded of view.contentDOM.querySelectorAll<HTMLElement>(".cm-collapsedLines:not([role])")) {
    folded.tabIndex = 0;
    folded.setAttribute("role", "button");
    folded.addEventListener("keydown", onKey);
  }
});
