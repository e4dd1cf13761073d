/** What a panel's file exports as `panel`. The page draws `view` while the panel is open. */
import type { ComponentType } from 'preact';

export interface PanelProps {
  /** What of the address follows the panel's id. */
  readonly path: readonly string[];
}

export interface PanelDefinition {
  readonly view: ComponentType<PanelProps>;
}

export const definePanel = (panel: PanelDefinition): PanelDefinition => panel;
