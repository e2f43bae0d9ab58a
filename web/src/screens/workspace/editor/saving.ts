/** Open documents that can be asked to save, without loading the editor to ask. */
type Save = () => Promise<void>;

const savers = new Set<Save>();

export function onSaveAll(save: Save): () => void {
  savers.add(save);
  return () => savers.delete(save);
}

export function saveAll(): void {
  for (const save of savers) void save();
}

window.addEventListener("pagehide", saveAll);
window.addEventListener("blur", saveAll);
