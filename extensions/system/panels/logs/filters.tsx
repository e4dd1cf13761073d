/** Which lines are shown; the address keeps it. */
import { SearchField, Select, setQuery } from '@svc/kit';
import { type Filter, LEVELS } from './lines.js';
import { t } from './words.js';

export const Filters = ({ filter: { level, area, words }, areas }: { filter: Filter; areas: readonly string[] }) => (
  <div class="log-filters">
    <SearchField value={words} onValue={(value) => setQuery({ q: value })} label={t('words')} />
    <Select
      bare
      label={t('level')}
      value={level}
      onValue={(value) => setQuery({ level: value === 'trace' ? undefined : value })}
      options={LEVELS.map((value) => ({ value, label: t(`level_${value}`) }))}
    />
    <Select bare label={t('area')} value={area} onValue={(value) => setQuery({ area: value })} options={[{ value: '', label: t('all_areas') }, ...areas.map((value) => ({ value, label: value }))]} />
  </div>
);
