/** An extension's state as people read it. */
import { Badge, type IconName, type OutputOf, type Tone } from '@svc/kit';
import { t } from './words.js';

export type Extension = OutputOf<'listExtensions'>['extensions'][number];
export type Node = OutputOf<'getExtensionGraph'>['nodes'][number];
export type State = Extension['state'];

const TONES: Readonly<Record<State, readonly [Tone, IconName]>> = {
  active: ['good', 'circle-check'],
  inactive: ['quiet', 'power'],
  starting: ['info', 'clock'],
  stopping: ['info', 'clock'],
  pending: ['warn', 'clock'],
  failed: ['bad', 'circle-x'],
  quarantined: ['bad', 'ban'],
};

export const StateBadge = ({ state }: { state: State }) => {
  const [tone, icon] = TONES[state];
  return (
    <Badge tone={tone} icon={icon}>
      {t(`state_${state}`)}
    </Badge>
  );
};

export const Badges = ({ extension: { state, degraded, bundled } }: { extension: Extension }) => (
  <span class="row wrap">
    <StateBadge state={state} />
    {degraded && (
      <Badge tone="warn" title={t('partly_title')}>
        {t('partly')}
      </Badge>
    )}
    {!bundled && <Badge>{t('from_elsewhere')}</Badge>}
  </span>
);

export const isIll = ({ state, degraded }: Extension): boolean => state === 'failed' || state === 'quarantined' || state === 'pending' || degraded;
export const isOff = ({ state }: Extension): boolean => state === 'inactive';

/** Its badge does not tell all: on and off without a reason are as somebody wanted them. */
export const isToExplain = ({ state, degraded, reason }: Extension): boolean => degraded || (state === 'inactive' ? reason !== null : state !== 'active');
export const whyOf = ({ state, reason }: Extension): string => reason ?? t(`why_${state}`);
export const decidedBy = ({ intent: { enabled, decidedBy } }: Extension): string => t(`by_${decidedBy}_${enabled ? 'on' : 'off'}`);
