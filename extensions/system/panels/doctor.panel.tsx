/** Everything that the daemon looks at in itself, what it found, and what fixes it. */
import './findings/findings.css';
import { ago, Button, CopyButton, count, daemon, definePanel, Fold, Icon, type OutputOf, PanelBody, PanelHead, Section, Shown, useAgain, useLoaded, useOffered } from '@svc/kit';
import { Findings } from './findings/findings.js';
import type { Finding } from './findings/fixes.js';
import { t } from './doctor/words.js';

type Detail = OutputOf<'getHealthDetail'>;
const PROBLEMS = ['fail', 'warn'] as const satisfies ReadonlyArray<Finding['result']>;
const GROUPS = [...PROBLEMS, 'pass'] as const;

interface Looked {
  readonly detail: Detail;
  readonly at: string;
  /** Ids of all that are installed; empty where nobody can tell. */
  readonly extensions: readonly string[];
}

const look = async (signal: AbortSignal): Promise<Looked> => {
  const [detail, extensions] = await Promise.all([
    daemon.call('getHealthDetail', {}, { signal }),
    daemon.call('listExtensions', {}, { signal }).then(
      (answer) => answer.extensions.map(({ id }) => id),
      () => [],
    ),
  ]);
  return { detail, at: new Date().toISOString(), extensions };
};

/** For whoever asks for help: what was found, the worst first, as `svc doctor` says it. */
const asText = ({ detail: { version, doctor }, at }: Looked): string =>
  [
    `svc ${version}, ${at}`,
    ...GROUPS.flatMap((group) =>
      doctor.filter(({ result }) => result === group).map(({ check, result, message, fix }) => `${result.padEnd(4)} ${check}: ${message}${fix === undefined ? '' : `\n     ${fix}`}`),
    ),
  ].join('\n');

const Verdict = ({ doctor }: { doctor: readonly Finding[] }) => {
  const [broken, odd] = [doctor.filter(({ result }) => result === 'fail').length, doctor.filter(({ result }) => result === 'warn').length];
  return (
    <p class={broken > 0 ? 'verdict ill' : 'verdict well'} role="status">
      <Icon name={broken > 0 ? 'circle-x' : 'circle-check'} />
      <strong>{broken > 0 ? t('broken', { count: broken }) : odd > 0 ? t('warnings', { count: odd }) : t('well')}</strong>
    </p>
  );
};

const Found = ({ looked: { detail, extensions }, onFixed }: { looked: Looked; onFixed: () => void }) => {
  const isOffered = useOffered();
  const of = (group: Finding['result']) => detail.doctor.filter(({ result }) => result === group);
  const passed = of('pass');
  return (
    <>
      <Verdict doctor={detail.doctor} />
      {PROBLEMS.map((group) => {
        const findings = of(group);
        if (findings.length === 0) return null;
        return (
          <Section
            key={group}
            title={
              <>
                {t(`group_${group}`)} <span class="muted">{count(findings.length)}</span>
              </>
            }
          >
            <Findings label={t(`group_${group}_list`)} findings={findings} extensions={extensions} isOffered={isOffered} onFixed={onFixed} />
          </Section>
        );
      })}
      {passed.length > 0 && (
        <Fold summary={t('passed', { count: passed.length })}>
          <Findings label={t('group_pass_list')} findings={passed} extensions={extensions} isOffered={isOffered} onFixed={onFixed} />
        </Fold>
      )}
      {detail.config_notices.length > 0 && (
        <Section title={t('notices')} note={t('notices_note')}>
          <div class="card">
            <ul aria-label={t('notices_list')}>
              {detail.config_notices.map((notice) => (
                <li key={notice}>{notice}</li>
              ))}
            </ul>
          </div>
        </Section>
      )}
    </>
  );
};

const Doctor = () => {
  const looked = useLoaded('doctor', look, ['extension', 'config', 'models', 'provider', 'auth']);
  const { isAsking, again } = useAgain(looked);
  const { data } = looked;
  return (
    <>
      <PanelHead
        title={t('title')}
        note={<span role="status">{isAsking || looked.isFirst ? t('running') : data && t('note', { ago: ago(data.at) })}</span>}
        actions={
          <>
            <Button icon="stethoscope" disabled={isAsking || looked.isFirst} onPress={again}>
              {t('run')}
            </Button>
            {data && <CopyButton label={t('copy')} text={() => asText(data)} />}
          </>
        }
      />
      <PanelBody>
        <Shown of={looked} lines={8}>
          {(found) => <Found looked={found} onFixed={looked.reload} />}
        </Shown>
      </PanelBody>
    </>
  );
};

export const panel = definePanel({ view: Doctor });
