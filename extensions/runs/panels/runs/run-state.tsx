/** How a run or a step stands, in a word and a colour; and what both have in common. */
import { Badge, duration, type IconName, type OutputOf, type Tone, useEffect, useState } from '@svc/kit';
import { t } from './words.js';

export type ListedRun = OutputOf<'listRuns'>['runs'][number];
export type Run = OutputOf<'getRun'>;
export type Step = Run['steps'][number];

export const STATES = ['queued', 'running', 'waiting', 'done', 'failed', 'cancelled'] as const;
type Shown = (typeof STATES)[number] | 'denied';

const LOOKS: Readonly<Record<Shown, readonly [Tone, IconName]>> = {
  queued: ['quiet', 'clock'],
  running: ['info', 'play'],
  waiting: ['warn', 'pause'],
  done: ['good', 'check'],
  failed: ['bad', 'circle-alert'],
  cancelled: ['quiet', 'ban'],
  denied: ['warn', 'ban'],
};

const isShown = (status: string): status is Shown => Object.hasOwn(LOOKS, status);

export const StateBadge = ({ status }: { status: string }) => {
  if (!isShown(status)) return <Badge>{status}</Badge>;
  const [tone, icon] = LOOKS[status];
  return (
    <Badge tone={tone} icon={icon}>
      {t(`s_${status}`)}
    </Badge>
  );
};

/** A model that was asked and never answered is called as its agent calls it. */
export const shownName = (name: string): string => (name === 'default/default' ? t('default_model') : name);

export const isActive = ({ status }: Pick<ListedRun, 'status'>): boolean => status === 'queued' || status === 'running' || status === 'waiting';

export const nameOf = ({ agent_name }: Pick<ListedRun, 'agent_name'>): string => agent_name ?? t('gone');

export const tookMs = ({ started_at, ended_at }: Pick<ListedRun, 'started_at' | 'ended_at'>, now: number): number =>
  Math.max(0, (ended_at === null ? now : Date.parse(ended_at)) - Date.parse(started_at));

export const tookOf = (run: Pick<ListedRun, 'started_at' | 'ended_at'>, now: number): string => duration(tookMs(run, now));

const SECOND_MS = 1_000;

/** The time, told anew each second while something goes on. */
export const useNow = (goesOn: boolean): number => {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    if (!goesOn) return;
    const timer = setInterval(() => setNow(Date.now()), SECOND_MS);
    return () => clearInterval(timer);
  }, [goesOn]);
  return now;
};
