/** Every protection of the daemon, with what it did when it was just tried. */
import './security/security.css';
import { ago, Badge, Button, count, daemon, dateTime, definePanel, Fold, type OutputOf, PanelBody, PanelHead, Section, Shown, useAgain, useLoaded } from '@svc/kit';
import { nameOf, t } from './security/words.js';

type Report = OutputOf<'getSecurityReport'>;
type State = Report['security_systems'][string];

/** What needs somebody comes first. */
const IN_NEED = ['failed', 'degraded', 'inactive'] as const satisfies readonly State[];
const TONES = { failed: 'bad', degraded: 'warn', inactive: 'quiet', active: 'good' } as const satisfies Readonly<Record<State, string>>;

const rowsOf = ({ evidence }: Report) => Object.entries(evidence).map(([name, one]) => ({ name, ...one }));

const Systems = ({ state, rows }: { state: State; rows: ReturnType<typeof rowsOf> }) => (
  <ul class="systems" aria-label={t(`group_${state}`)}>
    {rows.map(({ name, detail, owner }) => (
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
);

const Found = ({ report }: { report: Report }) => {
  const of = (state: State) => rowsOf(report).filter((row) => row.state === state);
  const active = of('active');
  return (
    <div class="stack">
      {IN_NEED.map((state) => {
        const found = of(state);
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
            <Systems state={state} rows={found} />
          </Section>
        );
      })}
      {active.length > 0 && (
        <Fold summary={t('all_active', { count: active.length })}>
          <Systems state="active" rows={active} />
        </Fold>
      )}
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
