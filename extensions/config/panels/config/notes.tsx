/** What stands above the form: a file that cannot be written, one that is not there, what in it does not hold. */
import { Button, daemon, Icon, needs, notify, type OutputOf } from '@svc/kit';
import { t } from './words.js';

export const Notes = ({ status, problems, onChange }: { status: OutputOf<'getConfigStatus'>; problems: readonly string[]; onChange: () => void }) => {
  const begin = async (): Promise<void> => {
    notify((await daemon.call('createConfig')).message);
    onChange();
  };
  return (
    <>
      {!status.writable && (
        <div class="card config-note" role="note">
          <h2 class="row">
            <Icon name="info" />
            {t('read_only')}
          </h2>
          <p>{t('read_only_text', { file: status.source })}</p>
        </div>
      )}
      {!status.exists && (
        <div class="card config-note" role="note">
          <h2>{t('no_file')}</h2>
          <p>{t('no_file_text')}</p>
          <div>
            <Button icon="file-plus" {...needs('config.admin')} onPress={begin}>
              {t('write_first')}
            </Button>
          </div>
        </div>
      )}
      {problems.length > 0 && (
        <div class="card config-note bad" role="alert">
          <h2 class="row">
            <Icon name="triangle-alert" />
            {t('problems')}
          </h2>
          <ul>
            {problems.map((problem) => (
              <li key={problem}>{problem}</li>
            ))}
          </ul>
        </div>
      )}
    </>
  );
};
