/** What an agent is, at a glance. */
import { addressOf, ago, Button, CopyButton, count, daemon, dateTime, Facts, Icon, may, money, notify, Section, Select, shortId, Stat, Stats, useState, whyNot } from '@svc/kit';
import { type AgentDetail, StateBadge } from './agent-badge.js';
import { e } from './edit-words.js';
import { GrantsSaid } from './grants-said.js';
import { t } from './words.js';

const MODES = ['Normal', 'Stable', 'assist', 'observe', 'full'] as const;
type Mode = (typeof MODES)[number];
type ModeKey = `mode_${Lowercase<Mode>}`;
const modeKey = (mode: Mode): ModeKey => `mode_${mode.toLowerCase()}` as ModeKey; // one of the five
const modeNamed = (name: string): Mode => MODES.find((mode) => mode === name) ?? 'Normal';

const WHY: Readonly<Record<string, Parameters<typeof e>[0]>> = { missing: 'why_missing', invalid_key: 'why_invalid', local_offline: 'why_offline' };

const Unready = ({ agent }: { agent: AgentDetail }) => {
  if (agent.state !== 'Running' || agent.ready) return null;
  const why = WHY[agent.auth_status ?? ''];
  return (
    <p class="row agent-unready" role="status">
      <Icon name="triangle-alert" />
      <span>{e('unready', { provider: agent.model_provider, why: why === undefined ? '' : e(why) })}</span>
    </p>
  );
};

const limitsOf = ({ resources: { max_cost_per_hour_usd: hour, max_cost_per_day_usd: day, max_cost_per_month_usd: month } }: AgentDetail): string =>
  [hour && e('per_hour', { cost: money(hour) }), day && e('per_day', { cost: money(day) }), month && e('per_month', { cost: money(month) })].filter(Boolean).join(', ');

const Other = ({ id }: { id: string }) => (
  <a href={addressOf('agents', [id])} class="mono">
    {shortId(id)}
  </a>
);

const factsOf = (agent: AgentDetail): Parameters<typeof Facts>[0]['rows'] => {
  const limits = limitsOf(agent);
  return [
    [
      e('id'),
      <span key="id" class="row">
        <span class="mono">{agent.id}</span>
        <CopyButton text={agent.id} label={e('copy_id')} />
      </span>,
    ],
    [e('made'), dateTime(agent.created_at)],
    [e('last_used'), agent.last_active === null ? t('never_used') : ago(agent.last_active)],
    ...(agent.tags.length > 0 ? ([[e('tags'), agent.tags.join(', ')]] as const) : []),
    ...(limits ? ([[e('limits'), limits]] as const) : []),
    ...(agent.fallback_models.length > 0 ? ([[e('fallbacks'), agent.fallback_models.map(({ provider, model }) => `${model} · ${provider}`).join(', ')]] as const) : []),
    ...(agent.parent_agent_id === null ? [] : ([[e('parent'), <Other key="parent" id={agent.parent_agent_id} />]] as const)),
    ...(agent.children.length > 0
      ? ([
          [
            e('children'),
            <span key="children" class="row wrap">
              {agent.children.map((id) => (
                <Other key={id} id={id} />
              ))}
            </span>,
          ],
        ] as const)
      : []),
    [e('rounds'), count(agent.autonomous.max_iterations)],
  ];
};

const ModeChoice = ({ agent, reload }: { agent: AgentDetail; reload: () => void }) => {
  const now = modeNamed(agent.mode);
  const [chosen, setChosen] = useState<Mode>();
  const mode = chosen ?? now;
  const set = async (): Promise<void> => {
    await daemon.call('setAgentMode', { id: agent.id, body: { mode } });
    setChosen(undefined);
    notify(e('mode_set', { name: agent.name, mode: e(modeKey(mode)) }));
    reload();
  };
  return (
    <div class="stack">
      <Select
        bare
        label={e('mode')}
        hint={e(`${modeKey(mode)}_text`)}
        value={mode}
        disabled={!may('agents.write')}
        onValue={(name) => setChosen(modeNamed(name))}
        options={MODES.map((one) => ({ value: one, label: e(modeKey(one)) }))}
      />
      <div>
        <Button disabled={mode === now || !may('agents.write')} title={whyNot('agents.write')} onPress={set}>
          {e('mode_change')}
        </Button>
      </div>
    </div>
  );
};

export const Overview = ({ agent, reload }: { agent: AgentDetail; reload: () => void }) => (
  <div class="stack agent-overview">
    <Unready agent={agent} />
    <Stats>
      <Stat label={e('status')} icon="activity" value={<StateBadge agent={agent} />} />
      <Stat
        label={e('model')}
        icon="cpu"
        value={<span class="agent-model">{agent.model_name}</span>}
        note={`${agent.model_provider} · ${agent.model.asked.model === 'default' ? e('asks_default') : e('as_named')}`}
      />
      {agent.cost_24h !== null && <Stat label={e('cost')} icon="coins" value={money(agent.cost_24h)} />}
      {agent.session_count !== null && <Stat label={e('conversations')} icon="message-square" value={count(agent.session_count)} note={e('conversations_new', { count: agent.sessions_24h ?? 0 })} />}
    </Stats>
    <div class="agent-columns">
      <Section title={e('may')} note={e('may_note')}>
        <GrantsSaid grants={agent.capabilities} tools={agent} />
      </Section>
      <Section title={e('mode_title')}>
        <ModeChoice agent={agent} reload={reload} />
      </Section>
    </div>
    <Section title={e('instructions')}>
      {agent.system_prompt === '' ? (
        <p class="muted">{e('no_instructions')}</p>
      ) : (
        <div class="instructions" role="group" aria-label={e('instructions')} tabIndex={0}>
          {agent.system_prompt}
        </div>
      )}
    </Section>
    <Section title={e('facts')}>
      <Facts rows={factsOf(agent)} />
    </Section>
  </div>
);
