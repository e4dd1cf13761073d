/** Whether it works; what does not, and how to fix it. */
import { addressOf, Icon, LinkButton, type Loaded, type OutputOf, Section, Shown } from '@svc/kit';
import { Findings } from '../findings/findings.js';
import { t } from './words.js';

type Detail = OutputOf<'getHealthDetail'>;

export const Health = ({ health, extensions, isOffered }: { health: Loaded<Detail>; extensions: readonly string[]; isOffered: (panel: string) => boolean }) => (
  <Section
    title={t('health')}
    actions={
      isOffered('doctor') && (
        <LinkButton small icon="stethoscope" href={addressOf('doctor')}>
          {t('all_checks')}
        </LinkButton>
      )
    }
  >
    <Shown of={health} lines={2}>
      {(detail) => <Verdict detail={detail} extensions={extensions} isOffered={isOffered} onFixed={health.reload} />}
    </Shown>
  </Section>
);

const Verdict = ({ detail: { problems, doctor }, extensions, isOffered, onFixed }: { detail: Detail; extensions: readonly string[]; isOffered: (panel: string) => boolean; onFixed: () => void }) => {
  const warnings = doctor.filter(({ result }) => result === 'warn').length;
  const isWell = problems.length === 0;
  return (
    <>
      <p class={isWell ? 'verdict well' : 'verdict ill'} role="status">
        <Icon name={isWell ? 'circle-check' : 'circle-x'} />
        <strong>{!isWell ? t('broken', { count: problems.length }) : warnings === 0 ? t('all_well') : t('all_well_but', { count: warnings })}</strong>
      </p>
      {!isWell && <Findings label={t('problems')} findings={problems} extensions={extensions} isOffered={isOffered} onFixed={onFixed} />}
    </>
  );
};
