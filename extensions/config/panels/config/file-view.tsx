/** All settings that hold, as a config.toml, to read, copy and take along. */
import { caller, CopyButton, daemon, Empty, LinkButton, may, Shown, TextArea, useLoaded } from '@svc/kit';
import { t } from './words.js';

export const FileView = () => (may('config.admin') ? <Exported key={caller.value?.name} /> : <Empty icon="file" title={t('admins_only')} />);

const Exported = () => {
  const loaded = useLoaded('settings as a file', async (signal) => new TextDecoder().decode(await daemon.call('exportConfig', {}, { signal })), ['config', 'extension']);
  return (
    <Shown of={loaded} lines={12}>
      {(text) => (
        <div class="stack">
          <div class="row wrap">
            <p class="muted grow">{t('file_note')}</p>
            <CopyButton text={text} />
            <LinkButton icon="download" href="/api/config/export" download="svc-config.toml">
              {t('download')}
            </LinkButton>
          </div>
          <TextArea isCode language="toml" readOnly label={t('file_text')} rows={Math.min(40, text.split('\n').length)} value={text} onValue={() => undefined} />
        </div>
      )}
    </Shown>
  );
};
