/** What goes on now, and what it costs. */
import { addressOf, count, daemon, Failure, type IconName, Loading, type Loaded, money, type OutputOf, sayingOf, Section, Stat, useFresh, useLoaded } from '@svc/kit';
import { figureOf, type Sample } from './figures.js';
import { t } from './words.js';

const DAY_MS = 24 * 3_600_000;
const MAX_COUNTED = 100;

/** Whether the area of runs is there. */
export const hasRuns = (samples: readonly Sample[]): boolean => figureOf(samples, 'svc_runs_unfinished') !== undefined;

interface Figures {
  readonly samples: readonly Sample[];
  readonly status: OutputOf<'getStatus'> | undefined;
  readonly isOffered: (panel: string) => boolean;
}

/** A figure that nobody tells is no zero. */
const Missing = ({ label, icon, personal = false }: { label: string; icon: IconName; personal?: boolean }) => (
  <Stat label={label} icon={icon} value="–" note={personal ? t('owners_only') : t('off_note')} />
);

const toRuns = (isOffered: Figures['isOffered'], query: Readonly<Record<string, string>>): { href?: string } => (isOffered('runs') ? { href: addressOf('runs', [], query) } : {});

const Runs = ({ samples, isOffered }: Figures) => {
  const [active, unfinished] = [figureOf(samples, 'svc_runs_active'), figureOf(samples, 'svc_runs_unfinished')];
  if (active === undefined || unfinished === undefined)
    return (
      <>
        <Missing label={t('running')} icon="activity" />
        <Missing label={t('waiting')} icon="clock" />
      </>
    );
  return (
    <>
      <Stat label={t('running')} icon="activity" value={count(active)} note={t('running_note')} {...toRuns(isOffered, { state: 'running' })} />
      <Stat label={t('waiting')} icon="clock" value={count(Math.max(0, unfinished - active))} note={t('waiting_note')} {...toRuns(isOffered, { state: 'waiting' })} />
    </>
  );
};

const Failed = ({ isOffered }: Pick<Figures, 'isOffered'>) => {
  const failed = useLoaded(
    'failed',
    async (signal) => (await daemon.call('listRuns', { status: 'failed', since: new Date(Date.now() - DAY_MS).toISOString(), limit: MAX_COUNTED }, { signal })).runs.length,
  );
  useFresh(failed.reload, ['run']);
  if (failed.data === undefined) return <Stat label={t('failed')} icon="circle-alert" value="–" note={failed.error === undefined ? '' : sayingOf(failed.error).text} />;
  const isMany = failed.data >= MAX_COUNTED;
  return (
    <Stat
      label={t('failed')}
      icon="circle-alert"
      value={`${count(failed.data)}${isMany ? '+' : ''}`}
      note={t('failed_note')}
      {...toRuns(isOffered, { state: 'failed', since: '24h' })}
      {...(failed.data > 0 ? { tone: 'bad' } : {})}
    />
  );
};

const Money = ({ samples }: Figures) => {
  const isOff = figureOf(samples, 'svc_llm_calls_total') === undefined;
  const [cost, input, output] = [figureOf(samples, 'svc_cost_usd_today'), figureOf(samples, 'svc_tokens_input'), figureOf(samples, 'svc_tokens_output')];
  if (cost === undefined || input === undefined || output === undefined)
    return (
      <>
        <Missing label={t('spent')} icon="coins" personal={!isOff} />
        <Missing label={t('tokens')} icon="zap" personal={!isOff} />
      </>
    );
  return (
    <>
      <Stat label={t('spent')} icon="coins" value={money(cost)} note={t('spent_note')} />
      <Stat label={t('tokens')} icon="zap" value={count(input + output)} note={t('tokens_note', { input: count(input), output: count(output) })} />
    </>
  );
};

const Tools = ({ samples }: Figures) => {
  const calls = figureOf(samples, 'svc_tool_calls');
  return calls === undefined ? <Missing label={t('tools')} icon="wrench" /> : <Stat label={t('tools')} icon="wrench" value={count(calls)} note={t('tools_note')} />;
};

const Counts = ({ samples, status, isOffered }: Figures) => {
  if (!status) return null;
  const sessions = status.session_count;
  return (
    <>
      <Stat
        label={t('agents')}
        icon="bot"
        value={count(status.agent_count)}
        note={t('agents_note', { count: count(status.active_agent_count) })}
        {...(isOffered('agents') ? { href: addressOf('agents') } : {})}
      />
      {sessions === null ? (
        <Stat label={t('conversations')} icon="message-square" value={t('off')} note={t('off_note')} />
      ) : (
        <Stat
          label={t('conversations')}
          icon="message-square"
          value={count(sessions)}
          note={t('conversations_note', { count: count(figureOf(samples, 'svc_active_sessions') ?? 0) })}
          {...(isOffered('chat') ? { href: addressOf('chat') } : {})}
        />
      )}
    </>
  );
};

export const Now = ({ metrics, ...rest }: { metrics: Loaded<readonly Sample[]>; status: OutputOf<'getStatus'> | undefined; isOffered: (panel: string) => boolean }) => {
  const figures = { samples: metrics.data ?? [], ...rest };
  return (
    <Section title={t('now')}>
      {metrics.error !== undefined && <Failure error={metrics.error} onRetry={metrics.reload} />}
      {metrics.isFirst ? (
        <Loading lines={3} />
      ) : (
        <div class="stats overview-stats">
          {metrics.data && (
            <>
              <Runs {...figures} />
              {hasRuns(figures.samples) ? <Failed isOffered={figures.isOffered} /> : <Missing label={t('failed')} icon="circle-alert" />}
              <Money {...figures} />
              <Tools {...figures} />
            </>
          )}
          <Counts {...figures} />
        </div>
      )}
    </Section>
  );
};
