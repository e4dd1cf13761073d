/** All agents: found by their words, sorted, a few hundred of them in one list. */
import { address, addressOf, ago, Button, daemon, Empty, Icon, LinkButton, LongList, may, money, PanelHead, SearchField, Select, setQuery, Shown, useLoaded, useMemo, whyNot } from '@svc/kit';
import { type Agent, Avatar, isSuspended, StateBadge } from './agent-badge.js';
import { t } from './words.js';

const MAX_LISTED = 500;
const ROW_REM = 4;

const rowHeight = (): number => ROW_REM * Number.parseFloat(getComputedStyle(document.documentElement).fontSize);

const STATES: Readonly<Record<string, (agent: Agent) => boolean>> = {
  ready: ({ ready }) => ready,
  unready: (agent) => !agent.ready && !isSuspended(agent),
  suspended: isSuspended,
};

const SORTS: Readonly<Record<string, (one: Agent, other: Agent) => number>> = {
  name: (one, other) => one.name.localeCompare(other.name, undefined, { numeric: true }),
  used: (one, other) => (other.last_active ?? '').localeCompare(one.last_active ?? ''),
  cost: (one, other) => (other.cost_24h ?? 0) - (one.cost_24h ?? 0),
};

const textOf = ({ name, description, model_name, model_provider, tags, id }: Agent): string => [name, description, model_name, model_provider, ...tags, id].join(' ').toLowerCase();

const found = (agents: readonly Agent[], { q = '', state = '', sort = 'name' }: Readonly<Record<string, string>>): Agent[] => {
  const wanted = q.toLowerCase().split(/\s+/).filter(Boolean);
  return agents.filter((agent) => (STATES[state]?.(agent) ?? true) && wanted.every((word) => textOf(agent).includes(word))).sort(SORTS[sort] ?? SORTS.name);
};

const Row = ({ agent }: { agent: Agent }) => (
  <div class="agent-row">
    <Avatar agent={agent} />
    <div class="grow">
      <a class="row-link cut" href={addressOf('agents', [agent.id])}>
        {agent.name}
      </a>
      <p class="muted small-text cut">{agent.description || agent.model_name}</p>
    </div>
    <span class="agent-wide muted small-text cut" title={`${agent.model_provider} / ${agent.model_name}`}>
      {agent.model_name}
    </span>
    <span class="agent-wide muted small-text cut">{agent.last_active === null ? t('never_used') : t('used', { ago: ago(agent.last_active) })}</span>
    <span class="agent-wide muted small-text numbers">{agent.cost_24h ? t('cost_today', { cost: money(agent.cost_24h) }) : ''}</span>
    <span class="agent-state">
      <StateBadge agent={agent} />
    </span>
    {may('runs.send') && (
      <a class="button icon-only quiet" href={addressOf('chat', [agent.id])} aria-label={t('talk_to', { name: agent.name })} title={t('talk_to', { name: agent.name })}>
        <Icon name="message-square" />
      </a>
    )}
  </div>
);

const Found = ({ agents, total }: { agents: readonly Agent[]; total: number }) => {
  const { query } = address.value;
  const rows = useMemo(() => found(agents, query), [agents, query]);
  const isNarrowed = Boolean(query.q || query.state);
  if (agents.length === 0 && !query.q)
    return (
      <Empty icon="bot" title={may('agents.write') ? t('none_title') : t('none_seen_title')}>
        <p>{may('agents.write') ? t('none_text') : t('none_seen_text')}</p>
        {may('agents.write') && (
          <LinkButton kind="primary" icon="plus" href={addressOf('agents', ['new'])}>
            {t('new_agent')}
          </LinkButton>
        )}
      </Empty>
    );
  return (
    <>
      <p class="muted small-text" role="status">
        {total > agents.length && !query.q ? t('too_many', { total, count: agents.length }) : t('shown', { shown: rows.length, count: total })}
      </p>
      {rows.length === 0 ? (
        <Empty icon="search" title={t('nobody_title')}>
          <p>{t('nobody_text')}</p>
          {isNarrowed && <Button onPress={() => setQuery({ q: undefined, state: undefined })}>{t('clear')}</Button>}
        </Empty>
      ) : (
        <LongList label={t('list')} rows={rows} rowHeight={rowHeight()} keyOf={({ id }) => id} row={(agent) => <Row agent={agent} />} />
      )}
    </>
  );
};

export const AgentList = () => {
  const { q = '', state = '', sort = 'name' } = address.value.query;
  const first = useLoaded('agents', (signal) => daemon.call('listAgents', { limit: MAX_LISTED }, { signal }), ['agent', 'provider', 'models']);
  const isPart = first.data !== undefined && first.data.total > first.data.items.length;
  // Whom the list does not hold is asked for.
  const searched = useLoaded(`agents found ${isPart ? q : ''}`, async (signal) => (isPart && q !== '' ? daemon.call('listAgents', { limit: MAX_LISTED, q }, { signal }) : undefined), ['agent']);
  return (
    <>
      <PanelHead
        title={t('title')}
        note={t('note')}
        actions={
          may('agents.write') ? (
            <LinkButton kind="primary" icon="plus" href={addressOf('agents', ['new'])}>
              {t('new_agent')}
            </LinkButton>
          ) : (
            <Button kind="primary" icon="plus" disabled title={whyNot('agents.write')}>
              {t('new_agent')}
            </Button>
          )
        }
      />
      <div class="agents-body">
        <div class="agents-tools">
          <div class="grow">
            <SearchField label={t('search')} value={q} onValue={(text) => setQuery({ q: text })} />
          </div>
          <Select
            bare
            label={t('state')}
            value={state}
            onValue={(chosen) => setQuery({ state: chosen })}
            options={[
              { value: '', label: t('every_state') },
              { value: 'ready', label: t('only_ready') },
              { value: 'unready', label: t('only_unready') },
              { value: 'suspended', label: t('only_suspended') },
            ]}
          />
          <Select
            bare
            label={t('sort')}
            value={sort}
            onValue={(chosen) => setQuery({ sort: chosen })}
            options={[
              { value: 'name', label: t('by_name') },
              { value: 'used', label: t('by_used') },
              { value: 'cost', label: t('by_cost') },
            ]}
          />
        </div>
        <Shown of={first} lines={8}>
          {(all) => <Found agents={searched.data?.items ?? all.items} total={searched.data?.total ?? all.total} />}
        </Shown>
      </div>
    </>
  );
};
