import type { Migration } from '@svc/api';

/** Whether the model thinks before it answers in this session; null is what the agent's manifest says. */
export const thinking: Migration = {
  name: '0002_thinking',
  up(m) {
    m.addColumn('sessions', 'thinking', { kind: 'integer' });
  },
};
