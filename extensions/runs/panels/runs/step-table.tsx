/** The same steps as figures, to compare and to sort. */
import { type Column, count, duration, money, Section, type Sorting, Table, useState } from '@svc/kit';
import { type Run, shownName, StateBadge, type Step } from './run-state.js';
import { t } from './words.js';

const orDash = (value: number | null, shown: (value: number) => string): string => (value === null ? '–' : shown(value));

const columnsOf = (run: Run, now: number): ReadonlyArray<Column<Step>> => {
  const begin = Date.parse(run.started_at);
  const afterMs = (step: Step): number => Math.max(0, Date.parse(step.started_at) - begin);
  const tookMs = (step: Step): number => step.duration_ms ?? Math.max(0, now - Date.parse(step.started_at));
  return [
    { id: 'step', title: t('step'), cell: (step) => <bdi class="mono">{shownName(step.name)}</bdi>, sortBy: (step) => step.name },
    { id: 'kind', title: t('kind'), isMinor: true, cell: (step) => (step.kind === 'model' ? t('kind_model') : step.kind === 'tool' ? t('kind_tool') : step.kind), sortBy: (step) => step.kind },
    { id: 'state', title: t('state'), cell: (step) => <StateBadge status={step.status} />, sortBy: (step) => step.status },
    { id: 'at', title: t('at'), align: 'end', cell: (step) => duration(afterMs(step)), sortBy: afterMs },
    { id: 'took', title: t('took'), align: 'end', cell: (step) => duration(tookMs(step)), sortBy: tookMs },
    { id: 'in', title: t('tokens_in'), align: 'end', cell: (step) => orDash(step.input_tokens, count), sortBy: (step) => step.input_tokens ?? -1 },
    { id: 'out', title: t('tokens_out'), align: 'end', cell: (step) => orDash(step.output_tokens, count), sortBy: (step) => step.output_tokens ?? -1 },
    { id: 'money', title: t('money'), align: 'end', cell: (step) => orDash(step.cost_usd, money), sortBy: (step) => step.cost_usd ?? -1 },
    { id: 'attempts', title: t('attempts'), align: 'end', isMinor: true, cell: (step) => orDash(step.attempts, count), sortBy: (step) => step.attempts ?? -1 },
  ];
};

export const StepTable = ({ run, now }: { run: Run; now: number }) => {
  const [sorting, setSorting] = useState<Sorting>();
  return (
    <Section title={t('steps')}>
      <Table label={t('step_table')} columns={columnsOf(run, now)} rows={run.steps} keyOf={({ seq }) => String(seq)} onSort={setSorting} {...(sorting ? { sorting } : {})} />
    </Section>
  );
};
