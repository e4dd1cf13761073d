/** A week of past and coming fires, day by day. */
import './week.css';
import { addressOf, Badge, count, daemon, language, type OutputOf, Section, useFresh, useLoaded } from '@svc/kit';
import { type Day, MAX_JOBS, type Moment, timesFrom, weekOf } from './week-days.js';
import { t } from './words.js';

type Job = OutputOf<'listCronJobs'>['jobs'][number];

const MAX_SHOWN = 6;
const MAX_FIRES = 100;
const MAX_TIMES = 50;
const TONES: Readonly<Record<string, 'good' | 'bad' | 'quiet' | 'info'>> = { ok: 'good', error: 'bad', running: 'info', due: 'info' };

const momentsOf = async (job: Job, signal: AbortSignal): Promise<Moment[]> => {
  const { fires } = await daemon.call('listCronFires', { id: job.id, limit: MAX_FIRES }, { signal });
  const past = fires.map(({ fired_at: at, status }) => ({ at, job: job.id, name: job.name, state: status }));
  if (!job.enabled) return past;
  const plan = job.schedule;
  const times =
    plan.kind === 'cron'
      ? (await daemon.call('previewCron', { expr: plan.expr, count: MAX_TIMES, ...(plan.tz === undefined ? {} : { tz: plan.tz }) }, { signal })).times.map(({ at }) => at)
      : timesFrom(job.next_run, plan.kind === 'every' ? plan.every_secs : undefined, Date.now());
  return [...past, ...times.map((at) => ({ at, job: job.id, name: job.name, state: 'due' }))];
};

export const Week = ({ jobs }: { jobs: readonly Job[] }) => {
  const shown = jobs.slice(0, MAX_JOBS);
  const loaded = useLoaded(`week of ${shown.map(({ id, next_run: next }) => `${id} ${next}`).join()}`, async (signal) => (await Promise.all(shown.map((job) => momentsOf(job, signal)))).flat());
  useFresh(() => loaded.reload(), ['schedules.changed']);
  if (loaded.data === undefined) return null;
  return (
    <Section title={t('week')} note={t('week_note')}>
      <ol class="week">
        {weekOf(loaded.data, Date.now()).map((day) => (
          <li key={day.at} {...(isToday(day) ? { 'aria-current': 'date' as const } : {})}>
            <strong>{new Intl.DateTimeFormat(language.value, { weekday: 'short', day: 'numeric', month: 'short' }).format(day.at)}</strong>
            <Moments day={day} />
          </li>
        ))}
      </ol>
    </Section>
  );
};

const isToday = ({ at }: Day): boolean => new Date(at).toDateString() === new Date().toDateString();

const Moments = ({ day: { moments } }: { day: Day }) => {
  const more = moments.length - MAX_SHOWN;
  if (moments.length === 0) return <span class="muted">{t('week_none')}</span>;
  return (
    <>
      {moments.slice(0, MAX_SHOWN).map(({ at, job, name, state }) => (
        <a key={`${job} ${at}`} href={addressOf('schedules', [job])}>
          <time dateTime={at}>{new Intl.DateTimeFormat(language.value, { hour: '2-digit', minute: '2-digit' }).format(Date.parse(at))}</time> <bdi>{name}</bdi>{' '}
          <Badge tone={TONES[state] ?? 'quiet'}>{state === 'due' ? t('due') : state}</Badge>
        </a>
      ))}
      {more > 0 && <span class="muted">{t('week_more', { count: count(more) })}</span>}
    </>
  );
};
