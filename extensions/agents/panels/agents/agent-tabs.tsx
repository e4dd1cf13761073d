/** The tabs of an agent: its own views, and panels of other areas that declare themselves as such a tab. */
import { addressOf, type ComponentChildren, daemon, go, Icon, language, offeredPanels, setQuery, Tabs, useEffect, useLoaded, useRef } from '@svc/kit';
import { Avatar } from './agent-badge.js';
import { e } from './edit-words.js';
import { t } from './words.js';

export const VIEWS = ['overview', 'settings', 'text', 'identity'] as const;

/** The tab that was chosen by keys, which is drawn anew by another panel: there it gets the focus again. */
let chosenByKeys: string | undefined;

export const AgentTabs = ({ id, chosen, children }: { id: string; chosen: string; children: ComponentChildren }) => {
  const place = useRef<HTMLDivElement>(null);
  const others = offeredPanels.value.filter(({ agentTab }) => agentTab !== undefined);
  useEffect(() => {
    const tab = place.current?.querySelector<HTMLElement>('[role="tab"][aria-selected="true"]');
    tab?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
    if (chosenByKeys === chosen) tab?.focus();
    chosenByKeys = undefined;
  }, [chosen]);
  const choose = (tab: string): void => {
    if (place.current?.querySelector('[role="tab"]:focus-visible')) chosenByKeys = tab;
    const other = others.find((panel) => panel.id === tab);
    const view = tab === 'overview' ? undefined : tab;
    if (other) go(other.id, other.agentTab === 'path' ? [id] : [], other.agentTab === 'query' ? { query: { agent_id: id } } : {});
    else if (VIEWS.some((one) => one === chosen)) setQuery({ view, file: undefined });
    else go('agents', [id], { query: { view } });
  };
  const tabs = [...VIEWS.map((one) => ({ id: one as string, label: e(one) })), ...others.map((panel) => ({ id: panel.id, label: panel.title[language.value] }))];
  return (
    <div class="agent-tabs" ref={place}>
      <Tabs label={e('views')} chosen={chosen} onChoose={choose} tabs={tabs}>
        {children}
      </Tabs>
    </div>
  );
};

/** Around a panel of another area that shows something of one agent. */
export const AroundAgent = ({ agentId, tab, children }: { agentId: string; tab: string; children: ComponentChildren }) => {
  const agent = useLoaded(`agent ${agentId}`, (signal) => daemon.call('getAgent', { id: agentId }, { signal }), ['agent']);
  // An agent that is gone: the panel itself says so.
  if (!agent.data) return <>{agent.isFirst ? null : children}</>;
  return (
    <div class="agent-around">
      <p class="agent-bar">
        <a class="button icon-only quiet" href={addressOf('agents')} aria-label={t('back')} title={t('back')}>
          <Icon name="arrow-left" />
        </a>
        <Avatar agent={agent.data} />
        <a class="cut" href={addressOf('agents', [agentId])}>
          <bdi>{agent.data.name}</bdi>
        </a>
      </p>
      <AgentTabs id={agentId} chosen={tab}>
        {children}
      </AgentTabs>
    </div>
  );
};
