/** Which catalog stands, and a newer one where there is an address to ask. */
import { Button, daemon, needs, notify, Section, Shown, useLoaded } from '@svc/kit';
import { t } from './words.js';

export const CatalogSection = () => {
  const loaded = useLoaded('catalog', (signal) => daemon.call('getCatalogStatus', {}, { signal }), ['models', 'config']);
  const update = async (): Promise<void> => {
    const done = await daemon.call('updateCatalog');
    notify(done.changed ? t('catalog_done', { version: done.version }) : t('catalog_same'));
    loaded.reload();
  };
  return (
    <Section title={t('catalog')} note={t('catalog_note')}>
      <Shown of={loaded} lines={1}>
        {({ version, models_count, available_updates, available_version, update_configured, problem }) => (
          <>
            <p>{t('catalog_line', { version, count: models_count })}</p>
            {available_updates === 1 && available_version && <p>{t('catalog_newer', { version: available_version })}</p>}
            {problem && <p class="models-problem">{problem}</p>}
            {update_configured ? (
              <div>
                <Button icon="download" {...needs('models.admin')} onPress={update}>
                  {t('catalog_update')}
                </Button>
              </div>
            ) : (
              <p class="muted">{t('catalog_no_host')}</p>
            )}
          </>
        )}
      </Shown>
    </Section>
  );
};
