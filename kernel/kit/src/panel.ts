/** What a panel's file exports as `panel`. The page draws `view` while the panel is open. */
import type { ComponentChildren, ComponentType } from 'preact';

export interface PanelProps {
  /** What of the address follows the panel's id. */
  readonly path: readonly string[];
}

export interface PanelDefinition {
  readonly view: ComponentType<PanelProps>;
  /** Of the panel of agents alone: what the page draws around a panel that is a tab of an agent. */
  readonly around?: ComponentType<{ readonly agentId: string; readonly tab: string; readonly children: ComponentChildren }>;
  /**
   * Called once, where it is the panel that the page opens with: begins to load what its view will want first (loadEarly). The
   * page waits a moment with its first drawing until this resolves; what fails here is asked for again by the view.
   */
  readonly prepare?: (path: readonly string[]) => Promise<void>;
}

export const definePanel = (panel: PanelDefinition): PanelDefinition => panel;
