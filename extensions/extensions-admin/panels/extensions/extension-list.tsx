/** All extensions; those in trouble stand first. */
import { address, addressOf, Button, type Column, Empty, SearchField, Select, setQuery, Table } from '@svc/kit';
import { Badges, type Extension, isIll, isOff, isToExplain, whyOf } from './state.js';
import { type Known, RowSwitches } from './switches.js';
import { t } from './words.js';

const SHOWN = ['all', 'on', 'off', 'ill'] as const;
type Shown = (typeof SHOWN)[number];

const isShown: Readonly<Record<Shown, (extension: Extension) => boolean>> = { all: () => true, on: (one) => !isOff(one), off: isOff, ill: isIll };
const shownOf = (text: string | undefined): Shown => SHOWN.find((one) => one === text) ?? 'all';

const bringsOf = ({ contributes }: Extension): string => {
  const [routes, tools] = [contributes.route?.length ?? 0, contributes.tool?.length ?? 0];
  return [routes > 0 ? t('routes', { count: routes }) : '', tools > 0 ? t('tools', { count: tools }) : ''].filter(Boolean).join(', ');
};

const columns = (known: Known): ReadonlyArray<Column<Extension>> => [
  { id: 'name', title: t('extension'), cell: ({ id }) => <bdi>{id}</bdi> },
  { id: 'state', title: t('state'), cell: (extension) => <Badges extension={extension} /> },
  {
    id: 'about',
    title: t('about'),
    cell: (extension) => (
      <span class="extension-what">
        {extension.description}
        {isToExplain(extension) && <span class="muted">{whyOf(extension)}</span>}
      </span>
    ),
  },
  { id: 'brings', title: t('brings'), isMinor: true, cell: bringsOf },
  { id: 'switch', title: t('switch'), align: 'end', cell: (extension) => <RowSwitches extension={extension} known={known} /> },
];

export const ExtensionList = ({ known }: { known: Known }) => {
  const { q = '', show } = address.value.query;
  const shown = shownOf(show);
  const wanted = q.toLowerCase();
  const rows = known.all
    .filter((one) => isShown[shown](one) && `${one.id} ${one.description}`.toLowerCase().includes(wanted))
    .sort((one, other) => Number(isIll(other)) - Number(isIll(one)) || one.id.localeCompare(other.id));
  return (
    <div class="stack">
      <div class="row wrap extension-filters">
        <div class="grow">
          <SearchField value={q} onValue={(value) => setQuery({ q: value })} label={t('search')} />
        </div>
        <Select
          bare
          label={t('show')}
          value={shown}
          onValue={(value) => setQuery({ show: value === 'all' ? undefined : value })}
          options={SHOWN.map((value) => ({ value, label: t(`show_${value}`) }))}
        />
      </div>
      {rows.length === 0 ? (
        <Empty icon="puzzle" title={t('nothing_found')}>
          <Button onPress={() => setQuery({ q: undefined, show: undefined })}>{t('show_everything')}</Button>
        </Empty>
      ) : (
        <Table label={t('title')} columns={columns(known)} rows={rows} keyOf={({ id }) => id} hrefOf={({ id }) => addressOf('extensions', [id])} />
      )}
    </div>
  );
};
