/** Hooks of plugins that ran in a run; nothing where none did. */
import { addressOf, Badge, daemon, duration, type OutputOf, Section, Table, useFresh, useLoaded } from '@svc/kit';
import { t } from './words.js';

type Call = OutputOf<'listPluginTraces'>['traces'][number];

const MOST = 200;

export const RunHooks = ({ id }: { id: string }) => {
  const loaded = useLoaded(`hooks of run ${id}`, (signal) => daemon.call('listPluginTraces', { run_id: id, limit: MOST }, { signal }));
  useFresh(loaded.reload, ['run']);
  const rows = loaded.data?.traces ?? [];
  if (rows.length === 0) return null;
  return (
    <Section title={t('hooks')}>
      <Table
        label={t('hook_calls')}
        rows={rows}
        keyOf={({ trace_id: trace }) => trace}
        columns={[
          {
            id: 'hook',
            title: t('hook'),
            cell: ({ plugin, hook }: Call) => (
              <a href={addressOf('plugins', [plugin])}>
                <bdi>{`${plugin} ${hook}`}</bdi>
              </a>
            ),
          },
          { id: 'took', title: t('took'), align: 'end', cell: ({ elapsed_ms: ms }: Call) => duration(ms) },
          {
            id: 'result',
            title: t('hook_result'),
            cell: ({ error, message, note }: Call) => (
              <>
                <Badge tone={error === null ? 'good' : 'bad'}>{error ?? t('s_done')}</Badge>
                <div class="muted small-text">{message ?? note ?? ''}</div>
              </>
            ),
          },
        ]}
      />
    </Section>
  );
};
