/** The attempts of one model step: which model and key, how each ended, and how long svc waited before the next. */
import { type Column, duration, Table } from '@svc/kit';
import type { Step } from './run-state.js';
import { t } from './words.js';

type Attempt = Step['attempt_list'][number];

/** One that was answered at once has nothing to tell. */
export const hasAttempts = ({ attempt_list: list }: Step): boolean => list.length > 1 || list.some(({ status }) => status !== 'ok');

const columns = (): ReadonlyArray<Column<Attempt>> => [
  { id: 'number', title: t('attempt'), cell: ({ number }) => number },
  { id: 'model', title: t('model'), cell: ({ provider, model }) => <bdi class="mono">{`${provider}/${model}`}</bdi> },
  { id: 'key', title: t('key'), cell: ({ key }) => key ?? '–' },
  {
    id: 'ended',
    title: t('ended_with'),
    cell: ({ status, failure, message }) => (
      <span title={message ?? undefined}>{status === 'ok' ? t('s_done') : `${status === 'skipped' ? `${t('not_called')}: ` : ''}${failure ?? t('s_failed')}`}</span>
    ),
  },
  { id: 'took', title: t('took'), align: 'end', cell: ({ duration_ms: ms }) => duration(ms) },
  { id: 'waited', title: t('wait'), align: 'end', cell: ({ waited_ms: ms }) => (ms === 0 ? '–' : duration(ms)) },
];

export const Attempts = ({ step }: { step: Step }) => (
  <div class="stack runs-details">
    <Table label={t('attempts')} columns={columns()} rows={step.attempt_list} keyOf={({ number }) => String(number)} />
  </div>
);
