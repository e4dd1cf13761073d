/** One agent: what it is, and how it is changed. */
import { address, addressOf, Button, confirmed, daemon, Empty, go, LinkButton, Loading, may, Menu, notify, PanelBody, PanelHead, Shown, SvcError, useLoaded, useState, whyNot } from '@svc/kit';
import { type AgentDetail, Avatar, isSuspended } from './agent-badge.js';
import { AgentTabs, VIEWS } from './agent-tabs.js';
import { CloneDialog } from './clone-dialog.js';
import { e } from './edit-words.js';
import { IdentityFiles } from './identity-files.js';
import { ManifestView } from './manifest-view.js';
import { Overview } from './overview.js';
import { SettingsView } from './settings-view.js';
import { t } from './words.js';

const back = () => ({ href: addressOf('agents'), label: t('back') });

const switchAgent = async (agent: AgentDetail, reload: () => void): Promise<void> => {
  const isOff = isSuspended(agent);
  await daemon.call(isOff ? 'resumeAgent' : 'suspendAgent', { id: agent.id });
  notify(e(isOff ? 'resumed' : 'suspended', { name: agent.name }));
  reload();
};

const kill = async ({ id, name }: AgentDetail): Promise<void> => {
  if (!(await confirmed({ title: e('kill_title', { name }), text: e('kill_text'), action: e('kill_do', { name }), isDangerous: true }))) return;
  await daemon.call('killAgent', { id });
  notify(e('killed', { name }));
  go('agents', [], { replace: true });
};

const Actions = ({ agent, reload, onClone }: { agent: AgentDetail; reload: () => void; onClone: () => void }) => {
  const mayWrite = may('agents.write');
  const isOff = isSuspended(agent);
  return (
    <>
      {may('runs.send') ? (
        <LinkButton kind="primary" icon="message-square" href={addressOf('chat', [agent.id])}>
          {t('talk')}
        </LinkButton>
      ) : (
        <Button kind="primary" icon="message-square" disabled title={whyNot('runs.send')}>
          {t('talk')}
        </Button>
      )}
      <Button icon={isOff ? 'play' : 'pause'} disabled={!mayWrite} title={whyNot('agents.write')} onPress={() => switchAgent(agent, reload)}>
        {e(isOff ? 'resume' : 'suspend')}
      </Button>
      <Menu
        label={e('more')}
        items={[
          { id: 'files', label: e('its_files'), icon: 'folder', onChoose: () => go('files', [agent.id]) },
          { id: 'clone', label: e('clone'), icon: 'copy', disabled: !mayWrite, onChoose: onClone },
          { id: 'kill', label: e('kill'), icon: 'trash-2', isDangerous: true, disabled: !mayWrite, onChoose: () => kill(agent) },
        ]}
      />
    </>
  );
};

const Agent = ({ agent, reload }: { agent: AgentDetail; reload: () => void }) => {
  const [isCloning, setCloning] = useState(false);
  const asked = address.value.query.view;
  const view = VIEWS.find((one) => one === asked) ?? 'overview';
  return (
    <>
      <PanelHead
        back={back()}
        title={
          <span class="agent-title">
            <Avatar agent={agent} />
            <bdi>{agent.name}</bdi>
          </span>
        }
        note={agent.description}
        actions={<Actions agent={agent} reload={reload} onClone={() => setCloning(true)} />}
      />
      <PanelBody>
        <AgentTabs id={agent.id} chosen={view}>
          {view === 'overview' && <Overview agent={agent} reload={reload} />}
          {view === 'settings' && <SettingsView agent={agent} reload={reload} />}
          {view === 'text' && <ManifestView agent={agent} reload={reload} />}
          {view === 'identity' && <IdentityFiles agentId={agent.id} />}
        </AgentTabs>
      </PanelBody>
      {isCloning && <CloneDialog agent={agent} onClose={() => setCloning(false)} />}
    </>
  );
};

export const OneAgent = ({ id }: { id: string }) => {
  const agent = useLoaded(`agent ${id}`, (signal) => daemon.call('getAgent', { id }, { signal }), ['agent', 'provider', 'models']);
  // Also where it was there a moment ago: another tab may have killed it.
  if (agent.error instanceof SvcError && ['agent_not_found', 'invalid_agent_id'].includes(agent.error.code))
    return (
      <>
        <PanelHead title={t('title')} back={back()} />
        <Empty icon="bot" title={t('gone_title')}>
          <p>{t('gone_text')}</p>
          <LinkButton href={addressOf('agents')}>{t('back')}</LinkButton>
        </Empty>
      </>
    );
  if (agent.data && agent.error === undefined) return <Agent agent={agent.data} reload={agent.reload} />;
  return (
    <>
      <PanelHead title={agent.data?.name ?? t('title')} back={back()} />
      <PanelBody>{agent.isFirst ? <Loading lines={8} /> : <Shown of={agent}>{() => null}</Shown>}</PanelBody>
    </>
  );
};
