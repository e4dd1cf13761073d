/** Which panels there are for this caller: what is shown links to no other. */
import { signal } from '@preact/signals';

export interface OfferedPanel {
  readonly id: string;
  readonly title: { readonly en: string; readonly zh: string };
  /** Where it is a tab of an agent: how its address names the agent. */
  readonly agentTab?: 'path' | 'query';
}

/** In the order of the navigation. */
export const offeredPanels = signal<readonly OfferedPanel[]>([]);

/** Called by the page, each time that it listed them. */
export const setOffered = (panels: readonly OfferedPanel[]): void => {
  offeredPanels.value = panels;
};

export const useOffered = (): ((panel: string) => boolean) => {
  const now = offeredPanels.value;
  return (panel) => now.some(({ id }) => id === panel);
};
