/** The settings: a form from their schema, with where each value comes from. `#/config/<section>`, `?q=`, `?set=1`, `?view=file`. */
import './config/config.css';
import { address, Button, daemon, definePanel, needs, notify, PanelBody, PanelHead, type PanelProps, setQuery, Shown, Tabs, useLoaded, useState } from '@svc/kit';
import { FileView } from './config/file-view.js';
import { Notes } from './config/notes.js';
import { SaveBar } from './config/save-bar.js';
import type { Document } from './config/schema.js';
import { Sections } from './config/sections.js';
import { t } from './config/words.js';

const load = async (signal: AbortSignal) => {
  const [schema, { settings }, status] = await Promise.all([
    daemon.call('getConfigSchema', {}, { signal }),
    daemon.call('listSettings', {}, { signal }),
    daemon.call('getConfigStatus', {}, { signal }),
  ]);
  // Its form is what the kernel writes; the interface declares it as any JSON Schema.
  return { schema: schema as unknown as Document, settings, status };
};

const Config = ({ path: [section = ''] }: PanelProps) => {
  const loaded = useLoaded('settings', load, ['config', 'extension']);
  const [problems, setProblems] = useState<readonly string[]>([]);
  const view = address.value.query['view'] === 'file' ? 'file' : 'form';
  const reload = async (): Promise<void> => {
    const { hot_actions_applied, restart_reasons, warnings } = await daemon.call('reloadConfig');
    setProblems(warnings);
    notify(
      [hot_actions_applied.length > 0 ? t('reloaded', { paths: hot_actions_applied.join(', ') }) : restart_reasons.length === 0 && t('reloaded_same'), ...restart_reasons].filter(Boolean).join(' '),
    );
    loaded.reload();
  };
  return (
    <div class="config-panel">
      <PanelHead
        title={t('title')}
        note={loaded.data && <span class="mono">{loaded.data.status.source}</span>}
        actions={
          <Button icon="refresh-cw" {...needs('config.admin')} onPress={reload}>
            {t('reload')}
          </Button>
        }
      />
      <PanelBody>
        <Tabs
          label={t('views')}
          chosen={view}
          onChoose={(id) => setQuery({ view: id === 'file' ? id : undefined })}
          tabs={[
            { id: 'form', label: t('form') },
            { id: 'file', label: t('file') },
          ]}
        >
          {view === 'file' ? (
            <FileView />
          ) : (
            <Shown of={loaded} lines={10}>
              {({ schema, settings, status }) => (
                <div class="stack">
                  <Notes status={status} problems={problems} onChange={loaded.reload} />
                  <Sections root={schema} settings={settings} isWritable={status.writable} section={section} />
                </div>
              )}
            </Shown>
          )}
        </Tabs>
      </PanelBody>
      {loaded.data && <SaveBar root={loaded.data.schema} settings={loaded.data.settings} onSaved={setProblems} onChange={loaded.reload} />}
    </div>
  );
};

export const panel = definePanel({ view: Config });
