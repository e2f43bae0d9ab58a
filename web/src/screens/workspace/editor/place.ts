import { create } from "zustand";

/** Where to go in a text: from 1, columns in characters, and what should stand there. */
export interface Place {
  line: number;
  column: number;
  text: string;
}

interface Wanted {
  path: string;
  place: Place;
}

/** The place that the next file shall be opened at. It waits here until the editor has that file. */
export const usePlace = create<{ wanted: Wanted | null }>(() => ({ wanted: null }));

export function wantPlace(wanted: Wanted | null): void {
  usePlace.setState({ wanted });
}
