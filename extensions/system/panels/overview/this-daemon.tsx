/** Where the daemon is and what it is made of. */
import { addressOf, bytes, duration, Facts, LinkButton, type OutputOf, Section } from '@svc/kit';
import { t } from './words.js';

export const ThisDaemon = ({ status, isOffered }: { status: OutputOf<'getStatus'>; isOffered: (panel: string) => boolean }) => (
  <Section
    title={t('daemon')}
    actions={
      isOffered('logs') && (
        <LinkButton small icon="scroll-text" href={addressOf('logs')}>
          {t('see_log')}
        </LinkButton>
      )
    }
  >
    <div class="card">
      <Facts
        rows={[
          [t('version'), status.version],
          [t('uptime'), duration(status.uptime_seconds * 1_000)],
          [t('memory'), bytes(status.rss_bytes)],
          [t('listens'), status.api_listen],
          [t('machine'), `${status.hostname} (${status.platform} ${status.arch}, Node.js ${status.runtime_version}, ${status.pid})`],
          [t('preset'), status.preset],
          [t('home'), status.home_dir],
          [t('database'), status.database],
          [t('settings'), status.config_exists ? status.config_file : `${status.config_file} (${t('settings_missing')})`],
          [t('log_level'), status.log_level],
        ]}
      />
    </div>
  </Section>
);
