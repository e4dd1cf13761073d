import './memory/memory.css';
import { definePanel, type PanelProps } from '@svc/kit';
import { EntryView } from './memory/entry-view.js';
import { GraphView } from './memory/graph-view.js';
import { MemoryList } from './memory/memory-list.js';

/** `#/memory`, `#/memory/entry/<id>`, `#/memory/graph/<agent id>`. */
const MemoryPanel = ({ path: [view, id] }: PanelProps) =>
  view === 'entry' && id !== undefined ? <EntryView key={id} id={id} /> : view === 'graph' && id !== undefined ? <GraphView key={id} agentId={id} /> : <MemoryList />;

export const panel = definePanel({ view: MemoryPanel });
