/** Light, dark, or as the system has it; and whether the system asks for more contrast. */
import { computed, effect, signal } from '@preact/signals';

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

const kept = localStorage.getItem(KEPT);
export const theme = signal<Theme>(kept === 'light' || kept === 'dark' ? kept : 'system');
export const isDark = computed(() => (theme.value === 'system' ? systemIsDark.value : theme.value === 'dark'));

export const setTheme = (chosen: Theme): void => {
  if (chosen === 'system') localStorage.removeItem(KEPT);
  else localStorage.setItem(KEPT, chosen);
  theme.value = chosen;
};

effect(() => {
  document.documentElement.dataset['theme'] = isDark.value ? 'dark' : 'light';
});
