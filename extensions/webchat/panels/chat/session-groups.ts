/** Conversations by when something was last said in them: days, then months. */
import { language } from '@svc/kit';
import { t } from './words.js';

const DAY_MS = 86_400_000;
const WEEK_DAYS = 7;
const LOCALES = { en: 'en-GB', zh: 'zh-CN' } as const;

const midnight = (at: Date): number => new Date(at.getFullYear(), at.getMonth(), at.getDate()).getTime();

/** What stands above them, as the reader's own calendar has it. */
export const dayOf = (iso: string, now = new Date()): string => {
  const at = new Date(iso);
  // Rounded: where the clocks change, a day has another length.
  const days = Math.round((midnight(now) - midnight(at)) / DAY_MS);
  if (days <= 0) return t('today');
  if (days === 1) return t('yesterday');
  if (days <= WEEK_DAYS) return t('previous_days', { days: WEEK_DAYS });
  return at.toLocaleDateString(LOCALES[language.value], { month: 'long', ...(at.getFullYear() === now.getFullYear() ? {} : { year: 'numeric' }) });
};

/** In the order that they have, one group after another. */
export const grouped = <T>(items: readonly T[], nameOf: (item: T) => string): ReadonlyArray<{ readonly name: string; readonly items: readonly T[] }> => {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const name = nameOf(item);
    const group = groups.get(name);
    if (group) group.push(item);
    else groups.set(name, [item]);
  }
  return [...groups].map(([name, own]) => ({ name, items: own }));
};
