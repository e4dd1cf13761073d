/** What model calls used and cost, by day, model and agent, and what agents may spend. */
import './usage/usage.css';
import {
  address,
  addressOf,
  Badge,
  Button,
  type Column,
  count,
  daemon,
  definePanel,
  Empty,
  may,
  money,
  type OutputOf,
  PanelBody,
  PanelHead,
  Section,
  Select,
  setQuery,
  Shown,
  Stat,
  Stats,
  Table,
  type Tone,
  useFresh,
  useLoaded,
  useOffered,
  useState,
} from '@svc/kit';
import { DayChart } from './usage/day-chart.js';
import { type Limits, LimitsForm } from './usage/limits-form.js';
import { t } from './usage/words.js';

type Budget = OutputOf<'getBudget'>;
type ModelUsage = OutputOf<'listUsageByModel'>['models'][number];
type RatingCount = OutputOf<'listRatings'>['ratings'][number];
type DayGroup = NonNullable<OutputOf<'listUsageByDay'>['groups']>[number];
type AgentSpending = OutputOf<'listAgentBudgets'>[number];

/** What may be looked back at, in days; the first is for who chose nothing. */
const RANGES = [30, 7, 90, 365];
/** What the charts may tell apart. */
const GROUPS = ['model', 'agent'] as const;
const TONES: Readonly<Record<Budget['status'], Tone>> = { ok: 'good', warning: 'warn', exceeded: 'bad' };

const Usage = () => {
  const budget = useLoaded('budget', (signal) => daemon.call('getBudget', {}, { signal }));
  const today = useLoaded('usage of today', (signal) => daemon.call('getUsage', { period: 'day' }, { signal }));
  const range = rangeOf(address.value.query.days);
  const { agent } = address.value.query;
  const by = GROUPS.find((group) => group === address.value.query.by);
  const shown = { days: range, ...(agent === undefined ? {} : { agent_id: agent }) };
  const key = `${range} ${agent ?? ''}`;
  const days = useLoaded(`usage by day ${key} ${by ?? ''}`, (signal) => daemon.call('listUsageByDay', { ...shown, ...(by === undefined ? {} : { group_by: by }) }, { signal }));
  const models = useLoaded(`usage by model ${key}`, (signal) => daemon.call('listUsageByModel', shown, { signal }));
  const ofAgent = useLoaded(`budget of ${agent ?? ''}`, (signal) => (agent === undefined ? Promise.resolve(undefined) : daemon.call('getAgentBudget', { id: agent }, { signal })));
  const agents = useLoaded('spending of agents', (signal) => daemon.call('listAgentBudgets', {}, { signal }));
  const ratings = useLoaded(`ratings ${range}`, (signal) => daemon.call('listRatings', { days: range }, { signal }));
  const rated = (ratings.data?.ratings ?? []).filter(({ agent_id: id }) => agent === undefined || id === agent);
  const [isEditing, setEditing] = useState(false);
  const reload = (): void => {
    for (const one of [budget, today, days, models, ofAgent, agents, ratings]) one.reload();
  };
  useFresh(reload, ['run', 'agent', 'config']);
  return (
    <>
      <PanelHead
        title={t('title')}
        note={t('note')}
        actions={
          may('budget.admin') &&
          budget.data && (
            <Button icon="pencil" onPress={() => setEditing(true)}>
              {t('edit')}
            </Button>
          )
        }
      />
      <PanelBody>
        <Shown of={budget}>{(now) => <Figures budget={now} tokens={today.data} />}</Shown>
        <div class="usage-range" role="group" aria-label={t('range')}>
          <Select label={t('range')} value={String(range)} options={rangeOptions()} onValue={(chosen) => setQuery({ days: chosen === String(RANGES[0]) ? undefined : chosen })} />
          <Select
            label={t('group_by')}
            value={by ?? ''}
            options={[{ value: '', label: t('group_none') }, ...GROUPS.map((value) => ({ value, label: t(value) }))]}
            onValue={(chosen) => setQuery({ by: chosen === '' ? undefined : chosen })}
          />
          <Select label={t('of_agent')} value={agent ?? ''} options={agentOptions(agents.data ?? [], agent)} onValue={(chosen) => setQuery({ agent: chosen === '' ? undefined : chosen })} />
        </div>
        <Section title={t('days')}>
          <Shown of={days}>
            {(usage) =>
              usage.days.some(({ calls }) => calls > 0) ? (
                <DayChart usage={usage} limit={(agent === undefined ? budget.data : ofAgent.data)?.daily_limit_usd ?? 0} nameOf={(group) => nameOfGroup(group, agents.data ?? [])} />
              ) : (
                <NoCalls />
              )
            }
          </Shown>
        </Section>
        {(models.data?.models.length ?? 0) > 0 && (
          <Section title={t('models')}>
            <Table label={t('models_table')} columns={modelColumns()} rows={models.data?.models ?? []} keyOf={({ provider, model }) => `${provider}/${model}`} />
          </Section>
        )}
        {rated.length > 0 && (
          <Section title={t('ratings')}>
            <Table label={t('ratings_table')} columns={ratingColumns()} rows={rated} keyOf={({ agent_id: id, model }) => `${id} ${model}`} />
          </Section>
        )}
        <Section title={t('agents')}>
          <Shown of={agents}>{(rows) => <Agents rows={rows} onSaved={reload} />}</Shown>
        </Section>
      </PanelBody>
      {isEditing && budget.data && <LimitsForm limits={budget.data} onClose={() => setEditing(false)} onSaved={reload} />}
    </>
  );
};

const rangeOf = (text: string | undefined): number => RANGES.find((days) => String(days) === text) ?? RANGES[0] ?? 1;

const rangeOptions = () => RANGES.toSorted((a, b) => a - b).map((days) => ({ value: String(days), label: t('last_days', { count: count(days) }) }));

/** One that the address names stands there too when it has cost nothing yet. */
const agentOptions = (rows: readonly AgentSpending[], chosen: string | undefined) => {
  const known = rows.map(({ agent_id: value, agent_name: name }) => ({ value, label: name ?? t('deleted') }));
  const isMissing = chosen !== undefined && known.every(({ value }) => value !== chosen);
  return [{ value: '', label: t('all_agents') }, ...known, ...(isMissing ? [{ value: chosen, label: chosen }] : [])];
};

const nameOfGroup = ({ provider, model, agent_id: id }: DayGroup, agents: readonly AgentSpending[]): string =>
  id === undefined ? `${provider}/${model}` : (agents.find(({ agent_id: known }) => known === id)?.agent_name ?? t('deleted'));

const NoCalls = () => (
  <Empty icon="coins" title={t('none')}>
    <p>{t('none_text')}</p>
  </Empty>
);

const ofLimit = (limit: number): string => (limit === 0 ? t('no_limit') : t('of_limit', { limit: money(limit) }));

const Figures = ({ budget, tokens }: { budget: Budget; tokens: OutputOf<'getUsage'> | undefined }) => (
  <>
    {budget.status !== 'ok' && (
      <p role="status">
        <Badge tone={TONES[budget.status]}>{t(budget.status)}</Badge>
      </p>
    )}
    <Stats>
      <Stat label={t('today')} value={money(budget.today_spent_usd)} note={ofLimit(budget.daily_limit_usd)} />
      <Stat label={t('month')} value={money(budget.month_spent_usd)} note={ofLimit(budget.monthly_limit_usd)} />
      {tokens && <Stat label={t('tokens_today')} value={count(tokens.total_input_tokens + tokens.total_output_tokens)} note={t('calls', { count: count(tokens.request_count) })} />}
      <Stat label={t('reserved')} value={money(budget.reserved_usd)} note={t('reserved_note')} />
    </Stats>
  </>
);

const modelColumns = (): ReadonlyArray<Column<ModelUsage>> => [
  { id: 'model', title: t('model'), cell: ({ provider, model }) => <bdi>{`${provider}/${model}`}</bdi> },
  { id: 'cost', title: t('cost'), align: 'end', cell: ({ cost_usd: cost }) => money(cost) },
  { id: 'input', title: t('input'), align: 'end', isMinor: true, cell: ({ input_tokens: tokens }) => count(tokens) },
  { id: 'output', title: t('output'), align: 'end', isMinor: true, cell: ({ output_tokens: tokens }) => count(tokens) },
  { id: 'calls', title: t('calls_column'), align: 'end', cell: ({ request_count: calls }) => count(calls) },
];

const ratingColumns = (): ReadonlyArray<Column<RatingCount>> => [
  { id: 'agent', title: t('agent'), cell: ({ agent_name: name }) => <bdi>{name ?? t('deleted')}</bdi> },
  { id: 'model', title: t('model'), cell: ({ model }) => <bdi>{model}</bdi> },
  { id: 'up', title: t('rated_up'), align: 'end', cell: ({ up }) => count(up) },
  { id: 'down', title: t('rated_down'), align: 'end', cell: ({ down }) => count(down) },
];

const Agents = ({ rows, onSaved }: { rows: readonly AgentSpending[]; onSaved: () => void }) => {
  const isOffered = useOffered();
  const [edited, setEdited] = useState<{ readonly agent: { readonly id: string; readonly name: string }; readonly limits: Limits }>();
  const edit = (id: string, name: string) => async (): Promise<void> => setEdited({ agent: { id, name }, limits: await daemon.call('getAgentBudget', { id }) });
  return (
    <>
      <Table
        label={t('agents_table')}
        columns={agentColumns(edit)}
        rows={rows}
        keyOf={({ agent_id: id }) => id}
        hrefOf={({ agent_id: id, agent_name: name }) => (name !== null && isOffered('agents') ? addressOf('agents', [id]) : undefined)}
      />
      {edited && <LimitsForm agent={edited.agent} limits={edited.limits} onClose={() => setEdited(undefined)} onSaved={onSaved} />}
    </>
  );
};

const agentColumns = (edit: (id: string, name: string) => () => Promise<void>): ReadonlyArray<Column<AgentSpending>> => [
  { id: 'agent', title: t('agent'), cell: ({ agent_name: name }) => <bdi>{name ?? t('deleted')}</bdi> },
  { id: 'today', title: t('today'), align: 'end', cell: ({ today_cost_usd: cost }) => money(cost) },
  { id: 'total', title: t('total'), align: 'end', cell: ({ total_cost_usd: cost }) => money(cost) },
  {
    id: 'limits',
    title: t('limits'),
    align: 'end',
    cell: ({ agent_id: id, agent_name: name }) =>
      name !== null &&
      may('budget.write') && (
        <Button kind="quiet" onPress={edit(id, name)}>
          {t('edit')}
        </Button>
      ),
  },
];

export const panel = definePanel({ view: Usage });
