/** Open documents that can be asked to save, without loading the editor to ask. */
export interface Saver {
  save: () => Promise<void>;
  /** Something would be lost if the page were closed now. */
  isUnsaved: () => boolean;
}

const savers = new Set<Saver>();

export function addSaver(saver: Saver): () => void {
  savers.add(saver);
  return () => savers.delete(saver);
}

export function saveAll(): void {
  for (const { save } of savers) void save();
}

window.addEventListener("pagehide", saveAll);
window.addEventListener("blur", saveAll);
window.addEventListener("beforeunload", (event) => {
  saveAll();
  if ([...savers].some(({ isUnsaved }) => isUnsaved())) event.preventDefault();
});
