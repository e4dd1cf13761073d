/** The folder of one agent: where one is in it, and the folder or file that stands there. */
import { addressOf, daemon, Empty, Icon, LinkButton, PanelBody, PanelHead, Shown, SvcError, useChanges, useLoaded } from '@svc/kit';
import { FileView } from './file-view.js';
import { FolderView } from './folder-view.js';
import { folderWithout, isFolder } from './tree.js';
import { t } from './words.js';

const Crumbs = ({ agentId, name, path }: { agentId: string; name: string; path: readonly string[] }) => (
  <nav aria-label={t('where')}>
    <ol class="crumbs">
      {[name, ...path].map((part, index) => (
        <li key={index}>
          {index > 0 && <Icon name="chevron-right" size={14} />}
          <a href={addressOf('files', [agentId, ...path.slice(0, index)])} aria-current={index === path.length ? 'page' : undefined}>
            <bdi>{part}</bdi>
          </a>
        </li>
      ))}
    </ol>
  </nav>
);

export const Workspace = ({ agentId, path }: { agentId: string; path: readonly string[] }) => {
  const agent = useLoaded(`files agent ${agentId}`, (signal) => daemon.call('getAgent', { id: agentId }, { signal }), ['agent']);
  const list = useLoaded(`files of ${agentId}`, (signal) => daemon.call('listAgentFiles', { id: agentId }, { signal }), ['files']);
  // What an agent writes with its tools is told by its runs alone.
  useChanges(['run'], (change) => {
    if (change?.agent_id === agentId) list.reload();
  });
  const back = { href: addressOf('files'), label: t('back') };
  if (list.error instanceof SvcError && ['agent_not_found', 'invalid_agent_id'].includes(list.error.code))
    return (
      <>
        <PanelHead title={t('title')} back={back} />
        <Empty icon="folder" title={t('agent_gone')}>
          <p>{t('agent_gone_text')}</p>
          <LinkButton href={back.href}>{back.label}</LinkButton>
        </Empty>
      </>
    );
  const name = agent.data?.name ?? '…';
  return (
    <>
      <PanelHead title={<bdi>{t('of', { name })}</bdi>} back={back} />
      <PanelBody>
        <div class="stack">
          {path.length > 0 && <Crumbs agentId={agentId} name={name} path={path} />}
          <Shown of={list}>
            {(listing) =>
              isFolder(listing.files, path) ? (
                <FolderView agentId={agentId} path={path} listing={listing} reload={list.reload} />
              ) : (
                <FileView
                  key={path.join('/')}
                  agentId={agentId}
                  path={path}
                  folder={folderWithout(listing.files, path)}
                  listed={listing.files.find((file) => file.name === path.join('/'))}
                  onChanged={list.reload}
                />
              )
            }
          </Shown>
        </div>
      </PanelBody>
    </>
  );
};
