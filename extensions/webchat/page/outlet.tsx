/** Where the open panel is drawn. What throws in one is shown there; the page around it goes on. */
import { address, Button, Component, type ComponentChildren, Empty, Failure, language, Loading, type PanelDefinition, type PanelProps, useCode, useEffect, useState } from '@svc/kit';
import { agentInView, shownPanel } from './hubs.js';
import { definitionOf, loadPanel, loadPanels, type Panel, panels, panelsError } from './panels.js';
import { t } from './shell-words.js';

class Boundary extends Component<{ children: ComponentChildren }, { error?: unknown }> {
  static override getDerivedStateFromError(error: unknown): { error: unknown } {
    return { error };
  }

  override render(): ComponentChildren {
    if (this.state.error === undefined) return this.props.children;
    return (
      <div class="panel-body">
        <Failure title={t('broken_title')} error={this.state.error} onRetry={() => this.setState({ error: undefined })} />
      </div>
    );
  }
}

const Opened = ({ panel, path }: PanelProps & { panel: Panel }) => {
  const [state, setState] = useState<{ definition?: PanelDefinition | undefined; error?: unknown }>(() => ({ definition: definitionOf(panel) }));
  const load = (): void => {
    setState({});
    loadPanel(panel).then(
      (definition) => setState({ definition }),
      (error: unknown) => setState({ error }),
    );
  };
  useEffect(() => (state.definition ? undefined : load()), []);
  if (state.error !== undefined)
    return (
      <div class="panel-body">
        <Failure title={t('broken_title')} error={state.error} onRetry={load} />
      </div>
    );
  if (!state.definition)
    return (
      <div class="panel-body">
        <h1 class="off-screen">{panel.title[language.value]}</h1>
        <Loading label={t('panel_loading')} />
      </div>
    );
  const View = state.definition.view;
  return <View path={path} />;
};

/** The code that hosts frames comes with the first of them. */
const FrameLater = ({ panel, path }: PanelProps & { panel: Panel }) => {
  const { code, error } = useCode(() => import('./framed.js'));
  if (error !== undefined) throw error;
  if (!code) return <Loading label={t('panel_loading')} />;
  return <code.Framed panel={panel} path={path} />;
};

/** A tab of an agent stands below that agent's name, which the panel of agents draws; where that is not there it stands alone. */
const AroundAgent = ({ agentId, tab, children }: { agentId: string; tab: string; children: ComponentChildren }) => {
  const agents = panels.value?.find(({ id, frame }) => id === 'agents' && !frame);
  const { code } = useCode(() => (agents ? loadPanel(agents) : new Promise<PanelDefinition>(() => undefined)));
  const Around = code?.around;
  if (!agents) return <>{children}</>;
  return Around ? (
    <Around agentId={agentId} tab={tab}>
      {children}
    </Around>
  ) : (
    <Loading label={t('panel_loading')} />
  );
};

export const Outlet = () => {
  const panel = shownPanel();
  if (panels.value === undefined) {
    return (
      <div class="panel-body">
        <h1 class="off-screen">svc</h1>
        {panelsError.value === undefined ? <Loading /> : <Failure error={panelsError.value} onRetry={() => void loadPanels()} />}
      </div>
    );
  }
  if (!panel)
    return (
      <Empty icon="unplug" title={panels.value.length === 0 ? t('not_for_you') : t('gone_title')}>
        {panels.value.length > 0 && <p>{t('gone_text')}</p>}
        <Button icon="refresh-cw" onPress={loadPanels}>
          {t('load_again')}
        </Button>
      </Empty>
    );
  // Another build of a panel begins anew.
  const drawn = (
    <Boundary key={`${panel.id} ${panel.frame?.build ?? panel.script ?? JSON.stringify(panel.view)}`}>
      {panel.frame ? <FrameLater panel={panel} path={address.value.path} /> : <Opened panel={panel} path={address.value.path} />}
    </Boundary>
  );
  const agentId = agentInView();
  return agentId !== undefined && panel.agentTab ? (
    <AroundAgent agentId={agentId} tab={panel.id}>
      {drawn}
    </AroundAgent>
  ) : (
    drawn
  );
};
