/** The extensions of the daemon: what is on and why, who needs whom, and switching them. */
import './extensions/extensions.css';
import {
  address,
  addressOf,
  Button,
  type ComponentChildren,
  daemon,
  definePanel,
  Empty,
  go,
  Icon,
  language,
  LinkButton,
  needs,
  PanelBody,
  PanelHead,
  type PanelProps,
  setQuery,
  Shown,
  Tabs,
  useLoaded,
  useOffered,
  useState,
} from '@svc/kit';
import { ExtensionList } from './extensions/extension-list.js';
import { ExtensionView } from './extensions/extension-view.js';
import { InstallDialog } from './extensions/installing.js';
import { GraphView } from './extensions/graph-view.js';
import { type Extension, isIll, isOff, type Node } from './extensions/state.js';
import { HeadSwitches, type Known } from './extensions/switches.js';
import { t } from './extensions/words.js';

interface Everything {
  readonly all: readonly Extension[];
  readonly nodes: readonly Node[];
  readonly panels: Known['panels'];
}

/** Who shows the page may be off by now; then there are no panels to name. */
const load = async (signal: AbortSignal): Promise<Everything> => {
  const [{ extensions }, { nodes }, panels] = await Promise.all([
    daemon.call('listExtensions', {}, { signal }),
    daemon.call('getExtensionGraph', {}, { signal }),
    daemon.call('listPanels', {}, { signal }).then(
      (answer) => answer.panels,
      () => [],
    ),
  ]);
  return { all: extensions, nodes, panels: panels.map(({ extension, title }) => ({ extension, title: title[language.value] })) };
};

const noteOf = (all: readonly Extension[]): string => {
  const [off, ill] = [all.filter(isOff).length, all.filter(isIll).length];
  return ill === 0 ? t('note', { on: all.length - off, off }) : t('note_ill', { on: all.length - off, off, ill });
};

const All = ({ known, nodes, trouble }: { known: Known; nodes: readonly Node[]; trouble: ComponentChildren }) => {
  const view = address.value.query.view === 'graph' ? 'graph' : 'list';
  return (
    <>
      <PanelHead title={t('title')} note={noteOf(known.all)} actions={<Install onChanged={known.onChanged} />} />
      <PanelBody>
        {trouble}
        <PageIsOff all={known.all} />
        <Tabs
          label={t('title')}
          tabs={[
            { id: 'list', label: t('list'), count: known.all.length },
            { id: 'graph', label: t('graph') },
          ]}
          chosen={view}
          onChoose={(id) => setQuery({ view: id === 'graph' ? id : undefined, focus: undefined })}
        >
          {view === 'graph' ? (
            <div class="stack">
              <GraphView nodes={nodes} />
            </div>
          ) : (
            <ExtensionList known={known} />
          )}
        </Tabs>
      </PanelBody>
    </>
  );
};

const Install = ({ onChanged }: { onChanged: () => void }) => {
  const [isAsked, setAsked] = useState(false);
  const close = (): void => setAsked(false);
  return (
    <>
      <Button icon="plus" onPress={() => setAsked(true)} {...needs('extensions.admin')}>
        {t('install')}
      </Button>
      {isAsked && (
        <InstallDialog
          onClose={close}
          onDone={(name) => {
            close();
            onChanged();
            go('extensions', [name]);
          }}
        />
      )}
    </>
  );
};

/** Who switched off what serves this page sees how to take that back while they still can. */
const PageIsOff = ({ all }: { all: readonly Extension[] }) => {
  const page = all.find(({ id }) => id === 'webchat');
  if (!page || page.state === 'active') return null;
  return (
    <p class="page-off" role="alert">
      <Icon name="triangle-alert" />
      {t('page_is_off', { name: page.id })}
    </p>
  );
};

const One = ({ name, known, nodes, trouble, hasLog }: { name: string; known: Known; nodes: readonly Node[]; trouble: ComponentChildren; hasLog: boolean }) => {
  const extension = known.all.find(({ id }) => id === name);
  const back = { href: addressOf('extensions'), label: t('back') };
  if (!extension)
    return (
      <>
        <PanelHead title={t('title')} back={back} />
        <Empty icon="puzzle" title={t('gone_title', { name })}>
          <LinkButton href={back.href}>{t('back')}</LinkButton>
        </Empty>
      </>
    );
  return (
    <>
      <PanelHead title={<bdi>{extension.id}</bdi>} note={extension.description} back={back} actions={<HeadSwitches extension={extension} known={known} />} />
      <PanelBody>
        {trouble}
        <PageIsOff all={known.all} />
        <ExtensionView extension={extension} nodes={nodes} hasLog={hasLog} />
      </PanelBody>
    </>
  );
};

const Content = ({ everything: { all, nodes, panels }, name, trouble, onChanged }: { everything: Everything; name: string | undefined; trouble: ComponentChildren; onChanged: () => void }) => {
  const hasLog = useOffered()('logs');
  const known = { all, panels, onChanged };
  return name === undefined ? <All known={known} nodes={nodes} trouble={trouble} /> : <One name={name} known={known} nodes={nodes} trouble={trouble} hasLog={hasLog} />;
};

const Extensions = ({ path: [name] }: PanelProps) => {
  const loaded = useLoaded('extensions', load, ['extension']);
  const trouble = <Shown of={loaded}>{() => null}</Shown>;
  if (loaded.data) return <Content everything={loaded.data} name={name} trouble={trouble} onChanged={loaded.reload} />;
  return (
    <>
      <PanelHead title={t('title')} />
      <PanelBody>{trouble}</PanelBody>
    </>
  );
};

export const panel = definePanel({ view: Extensions });
