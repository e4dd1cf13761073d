/** Whose files: chosen by name. Where there is one agent, that one. */
import { addressOf, daemon, Empty, go, LongList, PanelHead, SearchField, Shown, useEffect, useLoaded, useState } from '@svc/kit';
import { t } from './words.js';

const MAX_LISTED = 500;
const ROW_REM = 3.5;

export const AgentChoice = () => {
  const [typed, setTyped] = useState('');
  const agents = useLoaded('files agents', (signal) => daemon.call('listAgents', { limit: MAX_LISTED }, { signal }), ['agent']);
  const isPart = agents.data !== undefined && agents.data.total > agents.data.items.length;
  // Whom the list does not hold is asked for.
  const searched = useLoaded(`files agents ${isPart ? typed : ''}`, async (signal) => (isPart && typed !== '' ? daemon.call('listAgents', { limit: MAX_LISTED, q: typed }, { signal }) : undefined));
  const only = agents.data?.total === 1 ? agents.data.items[0] : undefined;
  useEffect(() => {
    if (only) go('files', [only.id], { replace: true });
  }, [only?.id]);
  return (
    <>
      <PanelHead title={t('title')} note={t('note')} />
      <div class="files-agents">
        <Shown of={agents}>
          {({ items }) => {
            const wanted = typed.trim().toLowerCase();
            const rows = (searched.data?.items ?? items).filter(({ name, description }) => `${name} ${description}`.toLowerCase().includes(wanted));
            if (items.length === 0)
              return (
                <Empty icon="folder" title={t('no_agents')}>
                  <p>{t('no_agents_text')}</p>
                </Empty>
              );
            return (
              <>
                <p>{t('whose')}</p>
                <SearchField label={t('search_agents')} value={typed} onValue={setTyped} />
                {rows.length === 0 ? (
                  <Empty icon="search" title={t('nobody')} />
                ) : (
                  <LongList
                    label={t('whose')}
                    rows={rows}
                    rowHeight={ROW_REM * Number.parseFloat(getComputedStyle(document.documentElement).fontSize)}
                    keyOf={({ id }) => id}
                    row={({ id, name, description }) => (
                      <a class="files-agent" href={addressOf('files', [id])}>
                        <strong class="cut">{name}</strong>
                        <span class="muted small-text cut">{description}</span>
                      </a>
                    )}
                  />
                )}
              </>
            );
          }}
        </Shown>
      </div>
    </>
  );
};
