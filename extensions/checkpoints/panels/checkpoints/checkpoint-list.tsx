/** The checkpoints of one agent, newest first. */
import { addressOf, ago, Button, daemon, Empty, go, PanelBody, PanelHead, Select, Shown, Table, useEffect, useLoaded, useState } from '@svc/kit';
import { t } from './words.js';

const MAX_AGENTS = 500;
const PAGE = 50;

export const CheckpointList = ({ agentId }: { agentId: string | undefined }) => {
  const agents = useLoaded('checkpoints agents', (signal) => daemon.call('listAgents', { limit: MAX_AGENTS }, { signal }), ['agent']);
  const first = agents.data?.items[0]?.id;
  useEffect(() => {
    if (agentId === undefined && first !== undefined) go('checkpoints', [first], { replace: true });
  }, [agentId, first]);
  return (
    <>
      <PanelHead title={t('title')} note={t('note')} />
      <PanelBody>
        <Shown of={agents}>
          {({ items }) =>
            items.length === 0 ? (
              <Empty icon="history" title={t('no_agents')} />
            ) : (
              <div class="stack">
                <div class="checkpoints-agent">
                  <Select label={t('agent')} value={agentId ?? ''} options={items.map(({ id, name }) => ({ value: id, label: name }))} onValue={(id) => go('checkpoints', [id])} />
                </div>
                {agentId !== undefined && <Rows agentId={agentId} />}
              </div>
            )
          }
        </Shown>
      </PanelBody>
    </>
  );
};

const Rows = ({ agentId }: { agentId: string }) => {
  const [limit, setLimit] = useState(PAGE);
  const list = useLoaded(`checkpoints of ${agentId} ${limit}`, (signal) => daemon.call('listCheckpoints', { agent_id: agentId, limit }, { signal }), ['checkpoints']);
  return (
    <Shown of={list}>
      {({ items, total }) =>
        total === 0 ? (
          <Empty icon="history" title={t('empty')}>
            <p>{t('empty_text')}</p>
          </Empty>
        ) : (
          <>
            <Table
              label={t('title')}
              rows={items}
              keyOf={({ commit }) => commit}
              hrefOf={({ commit }) => addressOf('checkpoints', [agentId, commit])}
              columns={[
                {
                  id: 'what',
                  title: t('before'),
                  cell: ({ title, tool, path }) => (
                    <span>
                      {tool === '' ? (
                        title
                      ) : (
                        <>
                          {tool === 'restore' ? t('restore_of') : <code>{tool}</code>} <bdi>{path}</bdi>
                        </>
                      )}
                    </span>
                  ),
                },
                { id: 'commit', title: t('commit'), isMinor: true, cell: ({ short }) => <code>{short}</code> },
                { id: 'when', title: t('taken'), align: 'end', cell: ({ created_at: at }) => ago(at) },
              ]}
            />
            {items.length < total && (
              <div>
                <Button onPress={() => setLimit(limit + PAGE)}>{t('more', { count: total - items.length })}</Button>
              </div>
            )}
          </>
        )
      }
    </Shown>
  );
};
