/** All providers: those that can answer first. */
import { address, addressOf, ago, Badge, Button, type Column, count, daemon, duration, Empty, go, may, needs, SearchField, Section, setQuery, Shown, Table, useLoaded, useState } from '@svc/kit';
import { AddKey, ADDING_KEY } from './add-key.js';
import { AddProvider } from './add-provider.js';
import { DefaultModel } from './default-model.js';
import { LocalServers } from './local-servers.js';
import { HealthBadge, type Provider, StateBadge } from './provider-state.js';
import { t } from './words.js';

const columns: ReadonlyArray<Column<Provider>> = [
  {
    id: 'provider',
    title: '',
    cell: (row) => row.display_name,
  },
  {
    id: 'state',
    title: '',
    cell: (row) => (
      <span class="row wrap models-badges">
        <StateBadge provider={row} />
        <HealthBadge provider={row} />
        {row.is_default && <Badge tone="info">{t('default_badge')}</Badge>}
        {row.is_custom && <Badge>{t('own_badge')}</Badge>}
      </span>
    ),
  },
  { id: 'models', title: '', align: 'end', cell: (row) => count(row.model_count) },
  { id: 'address', title: '', isMinor: true, cell: (row) => <span class="muted models-url">{row.base_url.replace(/^https?:\/\//, '')}</span> },
  { id: 'asked', title: '', isMinor: true, align: 'end', cell: (row) => <Asked provider={row} /> },
];

const titled = (): ReadonlyArray<Column<Provider>> => {
  const titles: Readonly<Record<string, string>> = { provider: t('provider'), state: t('state'), models: t('models'), address: t('address'), asked: t('last_asked') };
  return columns.map((column) => ({ ...column, title: titles[column.id] ?? '' }));
};

const Asked = ({ provider: { last_tested, latency_ms } }: { provider: Provider }) => (
  <span class="muted">{last_tested === null ? t('never') : `${ago(last_tested)}${latency_ms === null ? '' : ` · ${duration(latency_ms)}`}`}</span>
);

const Providers = ({ label, note, rows, empty }: { label: string; note: string; rows: readonly Provider[]; empty?: string }) => (
  <Section title={label} note={note}>
    {rows.length === 0 ? (
      <p class="muted">{empty}</p>
    ) : (
      <Table label={t('table_of', { name: label })} columns={titled()} rows={rows} keyOf={({ name }) => name} hrefOf={({ name }) => addressOf('models', ['provider', name])} />
    )}
  </Section>
);

const isLike = ({ name, display_name, base_url }: Provider, words: string): boolean => [name, display_name, base_url].some((text) => text.toLowerCase().includes(words));

export const ProviderList = () => {
  const loaded = useLoaded('providers', (signal) => daemon.call('listProviders', {}, { signal }), ['provider', 'models', 'config', 'auth']);
  const [isAdding, setAdding] = useState(false);
  const sought = address.value.query['q'] ?? '';
  return (
    <Shown of={loaded} lines={10}>
      {({ providers, default: chosen }) => {
        const found = providers.filter((one) => isLike(one, sought.trim().toLowerCase()));
        const able = found.filter(({ available, wire }) => available && wire !== 'unsupported');
        const others = found.filter(({ available, wire }) => !available && wire !== 'unsupported');
        const foreign = found.filter(({ wire }) => wire === 'unsupported');
        return (
          <div class="stack models-sections">
            {sought === '' && <DefaultModel chosen={chosen} providers={providers} onChange={loaded.reload} />}
            <div class="row wrap">
              <div class="grow models-search">
                <SearchField label={t('search_providers')} value={sought} onValue={(q) => setQuery({ q })} />
              </div>
              <Button kind="primary" icon="key" {...needs('providers.admin')} onPress={() => setQuery({ add: ADDING_KEY })}>
                {t('add_key')}
              </Button>
              <Button icon="plus" {...needs('providers.admin')} onPress={() => setAdding(true)}>
                {t('add_provider')}
              </Button>
            </div>
            {found.length === 0 && (
              <Empty icon="search" title={t('no_provider')}>
                <Button onPress={() => setQuery({ q: undefined })}>{t('clear')}</Button>
              </Empty>
            )}
            {(able.length > 0 || sought === '') && <Providers label={t('can_answer')} note={t('can_answer_note')} rows={able} empty={t('none_can_answer')} />}
            {sought === '' && <LocalServers onFound={loaded.reload} />}
            {others.length > 0 && <Providers label={t('cannot_answer')} note={t('cannot_answer_note')} rows={others} />}
            {foreign.length > 0 && <Providers label={t('not_spoken')} note={t('not_spoken_note')} rows={foreign} />}
            {address.value.query['add'] === ADDING_KEY && may('providers.admin') && (
              <AddKey
                providers={providers}
                onChange={loaded.reload}
                onClose={() => setQuery({ add: undefined })}
                onOther={() => {
                  setQuery({ add: undefined });
                  setAdding(true);
                }}
              />
            )}
            {isAdding && <AddProvider onClose={() => setAdding(false)} onDone={(name) => go('models', ['provider', name])} />}
          </div>
        );
      }}
    </Shown>
  );
};
