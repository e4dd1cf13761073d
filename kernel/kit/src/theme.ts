/** Light, dark, or as the system has it; and whether the system asks for more contrast. */
import { computed, effect, signal } from '@preact/signals';
import { keep, kept } from './kept.js';

export type Theme = 'system' | 'light' | 'dark';

const KEPT = 'svc.theme';

const follow = (query: string) => {
  const list = matchMedia(query);
  const matches = signal(list.matches);
  list.addEventListener('change', (event) => {
    matches.value = event.matches;
  });
  return matches;
};

const systemIsDark = follow('(prefers-color-scheme: dark)');
export const contrast = follow('(prefers-contrast: more)');

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
