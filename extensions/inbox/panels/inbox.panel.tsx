/** What waits: files in the inbox, approvals and tasks. */
import { addressOf, count, daemon, definePanel, Empty, PanelBody, PanelHead, Shown, Stat, Stats, Table, useFresh, useLoaded } from '@svc/kit';
import { t } from './inbox/words.js';

const Inbox = () => {
  const status = useLoaded('inbox', (signal) => daemon.call('getInboxStatus', {}, { signal }));
  useFresh(() => status.reload(), ['run', 'task', 'approval']);
  return (
    <>
      <PanelHead title={t('title')} note={t('note')} />
      <PanelBody>
        <Shown of={status}>
          {({ enabled, directory, sources, processed_count: processed, skipped }) => (
            <>
              <Stats>
                <Stat label={t('files')} value={count(sources.files)} note={t('processed', { count: count(processed) })} />
                <Stat label={t('approvals')} value={count(sources.approvals)} />
                <Stat label={t('tasks')} value={count(sources.tasks)} />
              </Stats>
              {directory !== '' && <p>{enabled ? t('on', { directory }) : t('off', { directory })}</p>}
              <p>
                <a href={addressOf('approvals')}>{t('to_approvals')}</a> · <a href={addressOf('tasks')}>{t('to_tasks')}</a>
              </p>
              {skipped.length > 0 ? (
                <Table
                  label={t('skipped')}
                  rows={skipped}
                  keyOf={({ name }) => name}
                  columns={[
                    { id: 'name', title: t('file'), cell: ({ name }) => <bdi>{name}</bdi> },
                    { id: 'reason', title: t('reason'), cell: ({ reason }) => reason },
                  ]}
                />
              ) : (
                sources.files + sources.approvals + sources.tasks === 0 && <Empty icon="check" title={t('none')} />
              )}
            </>
          )}
        </Shown>
      </PanelBody>
    </>
  );
};

export const panel = definePanel({ view: Inbox });
