/** The rows of servers: specs without secrets, and the tools that each had last. */
import type { Clock, Db, Events } from '@svc/api';
import type { ServerTool } from './client/server-tools.js';
import { McpChanged, type ServerRow } from './contract.js';
import type { ServerSpec } from './server-spec.js';

const WHY = 'servers of the daemon, for everybody';
export const MAX_SERVERS = 64;

export interface StoredServer {
  readonly spec: ServerSpec;
  readonly tools: readonly ServerTool[];
  readonly revision: number;
}

export interface ServerStore {
  all(): Promise<StoredServer[]>;
  add(spec: ServerSpec): Promise<void>;
  replace(spec: ServerSpec, revision: number): Promise<void>;
  setTools(name: string, tools: readonly ServerTool[]): Promise<void>;
  remove(name: string): Promise<void>;
}

export const createServerStore = ({ db, clock, events }: { readonly db: Db; readonly clock: Clock; readonly events: Pick<Events, 'event'> }): ServerStore => {
  const changed = (name: string, state: string) => events.event(McpChanged, { name, state });
  return {
    all: async () => (await db.system(WHY).select<ServerRow>({ from: 'servers', order: [{ column: 'name' }], limit: MAX_SERVERS })).map(storedOf),
    add: async (spec) =>
      void (await db.commit([db.insert('servers', [{ name: spec.name, spec: JSON.stringify(spec), tools: '[]', revision: 1, created_at: clock.iso() }]), changed(spec.name, 'added')])),
    replace: async (spec, revision) =>
      void (await db.commit([db.update('servers', ['name'], [{ name: spec.name, spec: JSON.stringify(spec), revision: revision + 1 }], { expect: 'each' }), changed(spec.name, 'changed')])),
    setTools: async (name, tools) => void (await db.commit([db.update('servers', ['name'], [{ name, tools: JSON.stringify(tools) }])])),
    remove: async (name) => void (await db.commit([db.remove('servers', { name }, { expect: 1 }), changed(name, 'removed')])),
  };
};

/** What was written here is read back as it was. */
const storedOf = ({ spec, tools, revision }: ServerRow): StoredServer => ({ spec: JSON.parse(spec) as ServerSpec, tools: JSON.parse(tools) as ServerTool[], revision });
