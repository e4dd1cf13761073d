/** Which panels there are for this caller: what is shown links to no other. */
import { signal } from '@preact/signals';

const offered = signal<ReadonlySet<string>>(new Set());

/** Called by the page, each time that it listed them. */
export const setOffered = (panels: readonly string[]): void => {
  offered.value = new Set(panels);
};

export const useOffered = (): ((panel: string) => boolean) => {
  const now = offered.value;
  return (panel) => now.has(panel);
};
