/** Light, dark, or as the system has it; and whether the system asks for more contrast. */
import { computed, effect, type ReadonlySignal, signal } from '@preact/signals';
import { keep, kept } from './kept.js';

export type Theme = 'system' | 'light' | 'dark';

const KEPT = 'svc.theme';

/** Whether a query about the screen holds, now and as it changes. */
export const matchesMedia = (query: string): ReadonlySignal<boolean> => {
  const list = matchMedia(query);
  const matches = signal(list.matches);
  list.addEventListener('change', (event) => {
    matches.value = event.matches;
  });
  return matches;
};

const systemIsDark = matchesMedia('(prefers-color-scheme: dark)');
export const contrast = matchesMedia('(prefers-contrast: more)');

const chosenBefore = kept(KEPT);
export const theme = signal<Theme>(chosenBefore === 'light' || chosenBefore === 'dark' ? chosenBefore : 'system');
export const isDark = computed(() => (theme.value === 'system' ? systemIsDark.value : theme.value === 'dark'));

export const setTheme = (chosen: Theme): void => {
  keep(KEPT, chosen === 'system' ? null : chosen);
  theme.value = chosen;
};

effect(() => {
  document.documentElement.dataset['theme'] = isDark.value ? 'dark' : 'light';
});
