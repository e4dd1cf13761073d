/** Who used how much lately, by agent and model. */
import { addressOf, type Column, count, Section, Table } from '@svc/kit';
import type { Sample } from './figures.js';
import { t } from './words.js';

const MAX_SHOWN = 6;

const modelOf = ({ provider = '', model = '' }: Sample['labels']): string => [provider, model].filter(Boolean).join('/');

const columns = (): ReadonlyArray<Column<Sample>> => [
  { id: 'agent', title: t('agent'), cell: ({ labels }) => <bdi>{labels.agent_id === '' ? t('others') : labels.agent}</bdi> },
  { id: 'model', title: t('model_column'), cell: ({ labels }) => modelOf(labels) },
  { id: 'tokens', title: t('tokens_column'), align: 'end', cell: ({ value }) => count(value) },
];

export const Usage = ({ samples, isOffered }: { samples: readonly Sample[]; isOffered: (panel: string) => boolean }) => {
  const own = samples.filter(({ name }) => name === 'svc_tokens').sort((one, other) => other.value - one.value);
  return (
    <Section title={t('usage')}>
      {own.length === 0 ? (
        <p class="muted">{t('no_usage')}</p>
      ) : (
        <Table
          label={t('usage_table')}
          columns={columns()}
          rows={own.slice(0, MAX_SHOWN)}
          keyOf={({ labels }) => `${labels.agent_id} ${modelOf(labels)}`}
          hrefOf={({ labels }) => (labels.agent_id && isOffered('agents') ? addressOf('agents', [labels.agent_id]) : undefined)}
        />
      )}
    </Section>
  );
};
