/** The steps of a run one under the other, as bars of time, tokens or money. */
import { address, count, daemon, duration, Failure, Fold, Icon, Loading, money, type OutputOf, Section, Select, setQuery, useLoaded } from '@svc/kit';
import { Attempts, hasAttempts } from './attempts.js';
import { type Run, shownName, StateBadge } from './run-state.js';
import { type Span, spansOf } from './spans.js';
import { t } from './words.js';

type Trace = OutputOf<'listAgentTraces'>['traces'][number];

const MEASURES = ['time', 'tokens', 'money'] as const;
type Measure = (typeof MEASURES)[number];

const amountOf = ({ step, fromMs, toMs }: Span, by: Measure): number => {
  if (by === 'time') return toMs - fromMs;
  return by === 'tokens' ? (step?.input_tokens ?? 0) + (step?.output_tokens ?? 0) : (step?.cost_usd ?? 0);
};

const saidOf = (span: Span, by: Measure): string => {
  const amount = amountOf(span, by);
  return by === 'time' ? duration(amount) : by === 'tokens' ? count(amount) : money(amount);
};

export const Timeline = ({ run, now }: { run: Run; now: number }) => {
  const by = MEASURES.find((one) => one === address.value.query['by']) ?? 'time';
  const { spans, totalMs } = spansOf(run, now);
  const shown = by === 'time' ? spans : spans.filter(({ kind }) => kind === 'step');
  // Loaded anew when there is another step, or one has ended.
  const done = run.steps.filter(({ kind, ended_at }) => kind === 'tool' && ended_at !== null).length;
  const agentId = run.steps.some(({ kind }) => kind === 'tool') && run.agent_name !== null ? run.agent_id : null;
  const traces = useLoaded(`traces ${run.run_id} ${done}`, async (signal) => (agentId === null ? [] : (await daemon.call('listAgentTraces', { id: agentId, run_id: run.run_id }, { signal })).traces));
  const tools = run.steps.filter(({ kind }) => kind === 'tool');
  return (
    <Section
      title={t('timeline')}
      note={t('timeline_note')}
      actions={
        <Select label={t('measure')} value={by} onValue={(one) => setQuery({ by: one === 'time' ? undefined : one })} options={MEASURES.map((one) => ({ value: one, label: t(`by_${one}`) }))} />
      }
    >
      {traces.error !== undefined && <Failure title={t('details_failed')} error={traces.error} onRetry={traces.reload} />}
      {shown.length === 0 ? (
        <p class="muted">{t('no_steps')}</p>
      ) : (
        <ol class="runs-timeline" aria-label={t('timeline')}>
          {shown.map((span) => (
            <li key={span.step ? `step ${span.step.seq}` : `wait ${span.fromMs}`}>
              <Row
                span={span}
                spans={shown}
                totalMs={totalMs}
                by={by}
                isAside={run.is_aside}
                canUnfold={agentId !== null && (traces.error === undefined || traces.data !== undefined)}
                trace={span.step?.kind === 'tool' ? traces.data?.[tools.indexOf(span.step)] : undefined}
              />
            </li>
          ))}
        </ol>
      )}
    </Section>
  );
};

const Row = ({
  span,
  spans,
  totalMs,
  by,
  trace,
  isAside,
  canUnfold,
}: {
  span: Span;
  spans: readonly Span[];
  totalMs: number;
  by: Measure;
  trace: Trace | undefined;
  isAside: boolean;
  canUnfold: boolean;
}) => {
  const line = (
    <span class="runs-line">
      <span class="runs-name">
        <Icon name={span.step ? (span.step.kind === 'model' ? 'cpu' : 'wrench') : 'pause'} size={16} />
        <bdi class="cut" title={span.step?.name}>
          {span.step ? shownName(span.step.name) : t(span.isFirst ? 'wait_line' : 'wait')}
        </bdi>
        {span.step && span.step.status !== 'done' && <StateBadge status={span.step.status} />}
      </span>
      <Bar span={span} spans={spans} totalMs={totalMs} by={by} />
      <span class="runs-amount">{saidOf(span, by)}</span>
    </span>
  );
  if (span.step?.kind === 'model' && hasAttempts(span.step)) {
    return (
      <Fold summary={line}>
        <Attempts step={span.step} />
      </Fold>
    );
  }
  return span.step?.kind === 'tool' && canUnfold ? (
    <Fold summary={line}>{trace ? <Details trace={trace} isAside={isAside} error={span.step.error} /> : <Loading lines={2} />}</Fold>
  ) : (
    <div class="runs-plain">{line}</div>
  );
};

/** Time stands where it was; amounts begin at the left. */
const Bar = ({ span, spans, totalMs, by }: { span: Span; spans: readonly Span[]; totalMs: number; by: Measure }) => {
  const most = by === 'time' ? totalMs : Math.max(...spans.map((one) => amountOf(one, by)));
  const part = (amount: number): string => `${most === 0 ? 0 : Math.min(100, (100 * amount) / most)}%`;
  const look = span.kind === 'wait' ? 'wait' : span.step?.status === 'failed' || span.step?.status === 'denied' ? 'bad' : (span.step?.kind ?? 'tool');
  return (
    <span class="runs-track" aria-hidden="true">
      <span class={`runs-bar ${look}${span.goesOn ? ' open' : ''}`} style={{ insetInlineStart: by === 'time' ? part(span.fromMs) : '0', width: part(amountOf(span, by)) }} />
    </span>
  );
};

const Details = ({ trace, isAside, error }: { trace: Trace; isAside: boolean; error: string | null }) => (
  <div class="stack runs-details">
    {trace.rationale && (
      <div>
        <h3>{t('rationale')}</h3>
        <p class="runs-said">{trace.rationale}</p>
      </div>
    )}
    <div>
      <h3>{t('asked_with')}</h3>
      {trace.input === null ? <p class="muted">{isAside ? t('not_kept') : t('nothing')}</p> : <pre class="runs-code">{JSON.stringify(trace.input, null, 2)}</pre>}
    </div>
    <div>
      <h3>{t('answered')}</h3>
      {trace.output_summary === '' ? <p class="muted">{isAside ? t('not_kept') : t('nothing')}</p> : <pre class="runs-code">{trace.output_summary}</pre>}
    </div>
    {error && (
      <p class="wrong-text">
        {t('ended_with')} <code>{error}</code>
      </p>
    )}
  </div>
);
