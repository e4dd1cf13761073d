/**
 * Hubs: the entries of the navigation, whose panels are their tabs; and what this reader opened, pinned and unfolded.
 *
 * U1  A panel is in one hub. A hub without panels is not shown; a link to it leads to the tab that was open last.
 * U2  A panel that is a tab of an agent is shown with that agent when its address names one, and then belongs to the hub Agents.
 * U3  What waits is counted by panel (waiting.ts); a hub has the sum of its panels, the title of the tab the sum of all.
 */
import { address, computed, keep, kept, type IconName, signal } from '@svc/kit';
import { openPanel, type Panel, panels } from './panels.js';

export type HubId = Panel['hub'];

export interface Hub {
  readonly id: HubId;
  readonly icon: IconName;
  readonly panels: readonly Panel[];
}

const HUB_ICONS: Readonly<Record<HubId, IconName>> = {
  chat: 'message-square',
  agents: 'bot',
  automate: 'zap',
  knowledge: 'book-open',
  connect: 'plug',
  costs: 'coins',
  safety: 'shield-check',
  system: 'settings',
  more: 'ellipsis',
};
const KEPT = 'svc.nav';
const MAX_RECENT = 4;
const MAX_PINS = 8;
const AGENTS = 'agents';

export const hubs = computed<readonly Hub[]>(() =>
  (Object.keys(HUB_ICONS) as HubId[]) // the keys of that very object
    .map((id) => ({ id, icon: HUB_ICONS[id], panels: (panels.value ?? []).filter((panel) => panel.hub === id) }))
    .filter((hub) => hub.panels.length > 0),
);

export const shownPanel = (): Panel | undefined => openPanel(panels.value, address.value.panel);

/** U2. The agent whose tab is open; of the panel of agents itself, the agent that is open. */
export const agentInView = (): string | undefined => {
  const panel = shownPanel();
  const { path, query } = address.value;
  if (panel?.agentTab === 'query') return query['agent_id'];
  return panel?.agentTab === 'path' || (panel?.id === AGENTS && path[0] !== 'new') ? path[0] : undefined;
};

export const openHub = (): HubId | undefined => (agentInView() !== undefined && panels.value?.some(({ id }) => id === AGENTS) ? AGENTS : shownPanel()?.hub);

/** U3. By the id of a panel. */
export const waiting = signal<Readonly<Record<string, number>>>({});
/** Whether the browser tells what waits; undefined where it cannot. */
export const notifying = signal<{ readonly isOn: boolean; readonly onSwitch: () => Promise<void> } | undefined>(undefined);
export const waitingIn = (all: readonly Panel[]): number => all.reduce((sum, { id }) => sum + (waiting.value[id] ?? 0), 0);

interface Own {
  /** Ids of panels. */
  readonly pins: readonly string[];
  readonly recent: readonly string[];
  /** Ids of hubs. */
  readonly unfolded: readonly string[];
  /** By hub, the panel that was open last. */
  readonly last: Readonly<Record<string, string>>;
}

const textsOf = (value: unknown): string[] => (Array.isArray(value) ? value.filter((one) => typeof one === 'string') : []);

const readOwn = (): Own => {
  try {
    const { pins, recent, unfolded, last } = JSON.parse(kept(KEPT) ?? '{}');
    return { pins: textsOf(pins), recent: textsOf(recent), unfolded: textsOf(unfolded), last: { ...last } };
  } catch {
    return { pins: [], recent: [], unfolded: [], last: {} }; // written by hand
  }
};

const own = signal(readOwn());
const change = (changed: Partial<Own>): void => {
  own.value = { ...own.peek(), ...changed };
  keep(KEPT, JSON.stringify(own.peek()));
};
const toggled = (list: readonly string[], id: string): string[] => (list.includes(id) ? list.filter((one) => one !== id) : [...list, id]);
const byId = (ids: readonly string[]): Panel[] => ids.flatMap((id) => panels.value?.find((panel) => panel.id === id) ?? []);

export const pins = (): Panel[] => byId(own.value.pins);
export const recent = (): Panel[] => byId(own.value.recent.filter((id) => id !== shownPanel()?.id && !own.value.pins.includes(id)));
export const isPinned = (id: string): boolean => own.value.pins.includes(id);
export const togglePin = (id: string): void => change({ pins: toggled(own.peek().pins, id).slice(-MAX_PINS) });
export const isUnfolded = (hub: HubId): boolean => own.value.unfolded.includes(hub);
export const toggleFold = (hub: HubId): void => change({ unfolded: toggled(own.peek().unfolded, hub) });

/** Where a link to the hub leads. */
export const firstOf = (hub: Hub): string => hub.panels.find(({ id }) => id === own.value.last[hub.id])?.id ?? hub.panels[0]?.id ?? '';

/** Called when another panel is shown. */
export const visited = ({ id, hub }: Panel): void => {
  const { recent: before, last } = own.peek();
  change({ recent: [id, ...before.filter((one) => one !== id)].slice(0, MAX_RECENT + 1), last: { ...last, [hub]: id } });
};
