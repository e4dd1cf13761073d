/** Conversations by when something was last said in them: days, then months. */
const DAY_MS = 86_400_000;
export const WEEK_DAYS = 7;

export interface DayNames {
  readonly today: string;
  readonly yesterday: string;
  readonly week: string;
  readonly locale: string;
}

const midnight = (at: Date): number => new Date(at.getFullYear(), at.getMonth(), at.getDate()).getTime();

/** What stands above them, as the reader's own calendar has it. */
export const dayOf = (iso: string, names: DayNames, now = new Date()): string => {
  const at = new Date(iso);
  // Rounded: where the clocks change, a day has another length.
  const days = Math.round((midnight(now) - midnight(at)) / DAY_MS);
  if (days <= 0) return names.today;
  if (days === 1) return names.yesterday;
  if (days <= WEEK_DAYS) return names.week;
  return at.toLocaleDateString(names.locale, { month: 'long', ...(at.getFullYear() === now.getFullYear() ? {} : { year: 'numeric' }) });
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
