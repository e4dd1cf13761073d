/** How the daemon is: whether it works, what goes on, what it costs, who answers. */
import './findings/findings.css';
import './overview/overview.css';
import { connection, daemon, definePanel, duration, IconButton, PanelBody, PanelHead, Shown, useEffect, useFresh, useLoaded, useOffered } from '@svc/kit';
import { Activity } from './overview/activity.js';
import { extensionsOf, samplesOf } from './overview/figures.js';
import { Health } from './overview/health.js';
import { ModelCard } from './overview/model-card.js';
import { Recent } from './overview/recent.js';
import { Runs } from './overview/runs.js';
import { hasRuns, Now } from './overview/stats.js';
import { ThisDaemon } from './overview/this-daemon.js';
import { Usage } from './overview/usage.js';
import { t } from './overview/words.js';

const Overview = () => {
  const isOffered = useOffered();
  const status = useLoaded('status', (signal) => daemon.call('getStatus', {}, { signal }));
  const health = useLoaded('health', (signal) => daemon.call('getHealthDetail', {}, { signal }));
  const metrics = useLoaded('metrics', async (signal) => samplesOf(await daemon.call('getMetrics', {}, { signal })));
  useFresh(() => {
    status.reload();
    metrics.reload();
  }, ['agent', 'session', 'run', 'extension', 'config', 'models', 'provider', 'auth']);
  // Looking at everything costs the daemon more than counting does.
  useFresh(health.reload, ['extension', 'config', 'models', 'provider', 'auth']);
  const all = [status, health, metrics];
  const reload = (): void => {
    for (const one of all) one.reload();
  };
  useEffect(() => {
    if (connection.value === 'live') for (const one of all) if (one.error !== undefined) one.reload();
  }, [connection.value]);
  const reported = status.data;
  return (
    <>
      <PanelHead
        title={t('title')}
        note={reported && t('note', { version: reported.version, time: duration(reported.uptime_seconds * 1_000) })}
        actions={<IconButton icon="refresh-cw" label={t('refresh')} onPress={reload} />}
      />
      <PanelBody>
        <Health health={health} extensions={extensionsOf(metrics.data ?? [])} isOffered={isOffered} />
        <Now metrics={metrics} status={reported} isOffered={isOffered} />
        <Activity withRuns={hasRuns(metrics.data ?? [])} withUsage={isOffered('usage')} />
        <Shown of={status}>
          {(now) => (
            <>
              <div class="overview-pair">
                <ModelCard status={now} isOffered={isOffered} />
                <Usage samples={metrics.data ?? []} isOffered={isOffered} />
              </div>
              {hasRuns(metrics.data ?? []) && <Runs isOffered={isOffered} />}
              {now.session_count !== null && <Recent isOffered={isOffered} />}
              <ThisDaemon status={now} isOffered={isOffered} />
            </>
          )}
        </Shown>
      </PanelBody>
    </>
  );
};

export const panel = definePanel({ view: Overview });
