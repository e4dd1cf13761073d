/** Model servers on this machine, as they were found when a person looked. */
import { Button, daemon, duration, Failure, Icon, type OutputOf, Section, useState } from '@svc/kit';
import { t } from './words.js';

type Found = OutputOf<'discoverLocalModels'>;

export const LocalServers = ({ onFound }: { onFound: () => void }) => {
  const [found, setFound] = useState<Found>();
  const [error, setError] = useState<unknown>();
  const look = async (): Promise<void> => {
    setError(undefined);
    try {
      setFound(await daemon.call('discoverLocalModels'));
      onFound();
    } catch (refusal) {
      setError(refusal);
    }
  };
  return (
    <Section
      title={t('local_servers')}
      note={t('local_note')}
      actions={
        <Button icon="refresh-cw" onPress={look}>
          {t('look')}
        </Button>
      }
    >
      {error !== undefined && <Failure error={error} onRetry={() => void look()} />}
      {found && (
        <ul class="cards" aria-label={t('local_servers')}>
          {found.servers.map((server) => (
            <li key={server.provider} class="card models-server">
              <div class="row">
                <Icon name={server.available ? 'circle-check' : 'unplug'} size={16} />
                <strong class="grow">{server.provider}</strong>
                <span class={server.available ? 'models-good' : 'muted'}>{server.available ? t('found_models', { count: server.models_count }) : t('not_found')}</span>
              </div>
              <p class="muted small-text">
                <code>{server.base_url}</code>
                {server.latency_ms !== null && ` · ${t('asked_in', { time: duration(server.latency_ms) })}`}
              </p>
              {server.error && <p class="muted small-text">{server.error}</p>}
            </li>
          ))}
        </ul>
      )}
      {found && found.models.length > 0 && (
        <p class="muted small-text">
          {t('found_models', { count: found.models.length })}:{' '}
          {found.models
            .slice(0, 20)
            .map(({ name }) => name)
            .join(', ')}
          {found.models.length > 20 && ` ${t('listed_more', { count: found.models.length - 20 })}`}
        </p>
      )}
    </Section>
  );
};
