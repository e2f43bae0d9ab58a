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

/** The person gives up what could not be saved: nothing is saved and nobody is warned any more. */
export function giveUp(): void {
  savers.clear();
}

/** Save all that is open. False if something could not be saved. */
export async function saveAll(): Promise<boolean> {
  await Promise.all([...savers].map(({ save }) => save()));
  return ![...savers].some(({ isUnsaved }) => isUnsaved());
}

window.addEventListener("pagehide", () => void saveAll());
window.addEventListener("blur", () => void saveAll());
window.addEventListener("beforeunload", (event) => {
  void saveAll();
  if ([...savers].some(({ isUnsaved }) => isUnsaved())) event.preventDefault();
});
