/** Every protection of the daemon, with what it did when it was just tried. */
import './security/security.css';
import { ago, Badge, Button, count, daemon, dateTime, definePanel, type OutputOf, PanelBody, PanelHead, Section, Shown, useAgain, useLoaded } from '@svc/kit';
import { nameOf, t } from './security/words.js';

type Report = OutputOf<'getSecurityReport'>;
type State = Report['security_systems'][string];

/** What needs somebody comes first. */
const GROUPS = ['failed', 'degraded', 'inactive', 'active'] as const satisfies readonly State[];
const TONES = { failed: 'bad', degraded: 'warn', inactive: 'quiet', active: 'good' } as const satisfies Readonly<Record<State, string>>;

const rowsOf = ({ evidence }: Report) => Object.entries(evidence).map(([name, one]) => ({ name, ...one }));

const Found = ({ report }: { report: Report }) => {
  const rows = rowsOf(report);
  return (
    <div class="stack">
      {GROUPS.map((state) => {
        const found = rows.filter((row) => row.state === state);
        if (found.length === 0) return null;
        return (
          <Section
            key={state}
            title={
              <>
                {t(`group_${state}`)} <span class="muted">{count(found.length)}</span>
              </>
            }
          >
            <ul class="systems" aria-label={t(`group_${state}`)}>
              {found.map(({ name, detail, owner }) => (
                <li key={name} class="system">
                  <h3>{nameOf(name)}</h3>
                  <Badge tone={TONES[state]}>{t(state)}</Badge>
                  <p>{detail}</p>
                  <p class="muted small-text">
                    <code>{name}</code>
                    {owner !== null && ` · ${t('owner', { owner })}`}
                  </p>
                </li>
              ))}
            </ul>
          </Section>
        );
      })}
    </div>
  );
};

const Security = () => {
  const report = useLoaded('security', (signal) => daemon.call('getSecurityReport', {}, { signal }), ['extension', 'config']);
  const { isAsking, again } = useAgain(report);
  const checkedAt = report.data && rowsOf(report.data)[0]?.checked_at;
  return (
    <>
      <PanelHead
        title={t('title')}
        note={
          <span role="status">
            {isAsking || report.isFirst
              ? t('running')
              : checkedAt && (
                  <time dateTime={checkedAt} title={dateTime(checkedAt)}>
                    {t('note', { ago: ago(checkedAt) })}
                  </time>
                )}
          </span>
        }
        actions={
          <Button icon="refresh-cw" disabled={isAsking || report.isFirst} onPress={again}>
            {t('again')}
          </Button>
        }
      />
      <PanelBody>
        <Shown of={report} lines={12}>
          {(found) => <Found report={found} />}
        </Shown>
      </PanelBody>
    </>
  );
};

export const panel = definePanel({ view: Security });
