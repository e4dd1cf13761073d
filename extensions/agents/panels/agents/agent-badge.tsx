/** How an agent looks: its face, and what state it is in. */
import { Badge, type OutputOf, type Tone } from '@svc/kit';
import { t } from './words.js';

export type Agent = OutputOf<'listAgents'>['items'][number];
export type AgentDetail = OutputOf<'getAgent'>;

export const Avatar = ({ agent: { name, identity } }: { agent: Pick<Agent, 'name' | 'identity'> }) => (
  <span class="agent-face" aria-hidden="true" style={identity.color === null ? undefined : { borderColor: identity.color }}>
    {identity.emoji ?? [...name][0]?.toUpperCase()}
  </span>
);

export const isSuspended = ({ state }: Pick<Agent, 'state'>): boolean => state === 'Suspended';

const shownState = ({ state, ready }: Pick<Agent, 'state' | 'ready'>): readonly [Tone, string] => {
  if (state === 'Running') return ready ? ['good', t('is_ready')] : ['warn', t('is_unready')];
  if (state === 'Suspended') return ['quiet', t('is_suspended')];
  if (state === 'Created') return ['quiet', t('is_created')];
  return state === 'Crashed' ? ['bad', t('is_crashed')] : ['quiet', t('is_ended')];
};

export const StateBadge = ({ agent }: { agent: Pick<Agent, 'state' | 'ready'> }) => {
  const [tone, text] = shownState(agent);
  return <Badge tone={tone}>{text}</Badge>;
};
