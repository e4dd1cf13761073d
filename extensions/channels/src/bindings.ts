/**
 * Which agent answers in a chat.
 *
 * B1  A binding holds where every field of its rule fits. Of several, the most special one wins, and of equals the first.
 * B2  Then the choice made in the chat counts, the agent of the channel, and the first agent of the channel's owner.
 * B3  A sender who is a person of svc is answered by agents that this person may use, and by their own first one where no other fits.
 */
import { type Actor, type Actors, type Clock, type Db, type Events, type Ids, isUuid, type Plain, Type } from '@svc/api';
import type { Agent, AgentsService } from '@svc/ext-agents/contract';
import { type Account, textField } from './account.js';
import type { Incoming } from './adapters/adapter.js';
import { type BindingRow, ChannelChanged } from './contract.js';
import { channelErrors } from './errors.js';

const Id = Type.String({ minLength: 1, maxLength: 200 });
export const MatchRule = Type.Object(
  {
    channel: Type.Optional(Type.String({ minLength: 1, maxLength: 64, description: 'Name of the channel' })),
    account_id: Type.Optional(Id),
    peer_id: Type.Optional(Type.String({ minLength: 1, maxLength: 200, description: 'A chat or a sender there' })),
    guild_id: Type.Optional(Type.String({ minLength: 1, maxLength: 200, description: 'A server, workspace or team there' })),
    roles: Type.Optional(Type.Array(Id, { maxItems: 50, description: 'The sender has all of these' })),
  },
  { additionalProperties: false, 'x-name': 'BindingRule' },
);
export type MatchRule = Plain<typeof MatchRule>;

export interface Binding {
  readonly id: string;
  readonly ownerId: string;
  readonly agent: string;
  readonly rule: MatchRule;
}

const WEIGHTS = { peer_id: 8, guild_id: 4, roles: 2, account_id: 2, channel: 1 } as const;
const MAX_BINDINGS = 500;

const weightOf = (rule: MatchRule): number => Object.entries(WEIGHTS).reduce((sum, [key, weight]) => sum + (isGiven(rule[key as keyof typeof WEIGHTS]) ? weight : 0), 0);

const isGiven = (value: unknown): boolean => value !== undefined && !(Array.isArray(value) && value.length === 0);

export const fits = (rule: MatchRule, channel: string, { chat, sender, guild, roles = [] }: Pick<Incoming, 'chat' | 'sender' | 'guild' | 'roles'>): boolean =>
  (rule.channel === undefined || rule.channel === channel) &&
  (rule.account_id === undefined || rule.account_id === channel) &&
  (rule.peer_id === undefined || rule.peer_id === chat || rule.peer_id === sender) &&
  (rule.guild_id === undefined || rule.guild_id === guild) &&
  (rule.roles ?? []).every((role) => roles.includes(role));

export interface Bindings {
  list(): Promise<Binding[]>;
  add(actor: Actor, agent: string, rule: MatchRule): Promise<Binding>;
  /** By its position, or its id. Throws `channels_binding_not_found`. */
  remove(key: string): Promise<{ readonly index: number; readonly id: string }>;
  /** Who answers; undefined where there is no agent at all. */
  agentFor(account: Account, message: Pick<Incoming, 'chat' | 'sender' | 'guild' | 'roles'>, chosen: string | undefined, person?: Actor): Promise<Agent | undefined>;
}

export interface BindingDeps {
  readonly db: Db;
  readonly clock: Pick<Clock, 'iso'>;
  readonly ids: Pick<Ids, 'uuid'>;
  readonly events: Events;
  readonly actors: Actors;
  readonly agents: Pick<AgentsService, 'find' | 'list'>;
}

export const createBindings = ({ db, clock, ids, events, actors, agents }: BindingDeps): Bindings => {
  const changed = () => events.event(ChannelChanged, { name: '', change: 'bindings' });
  const list = async (): Promise<Binding[]> =>
    (await db.system('bindings of the daemon').select<BindingRow>({ from: 'bindings', order: [{ column: 'created_at' }, { column: 'id' }], limit: MAX_BINDINGS + 1 })).map(
      ({ id, owner_id: ownerId, agent, rule }) => ({ id, ownerId, agent, rule: JSON.parse(rule) as MatchRule }), // written by `add`
    );
  const named = (ownerId: string, name: string, person: Actor | undefined): Promise<Agent | undefined> => agents.find(person ?? actors.of(ownerId), name);
  return {
    list,
    add: async (actor, agent, rule) => {
      if (weightOf(rule) === 0) throw channelErrors.bad_binding('its rule is empty, and would hold for every message');
      if ((await list()).length >= MAX_BINDINGS) throw channelErrors.too_many('bindings', MAX_BINDINGS);
      const row: BindingRow = { id: ids.uuid(), owner_id: actor.ownerId, agent, rule: JSON.stringify(rule), created_at: clock.iso() };
      await db.commit([db.insert('bindings', [row]), changed()]);
      return { id: row.id, ownerId: row.owner_id, agent, rule };
    },
    remove: async (key) => {
      const all = await list();
      const index = isUuid(key) ? all.findIndex(({ id }) => id === key.toLowerCase()) : /^\d{1,6}$/.test(key) ? Number(key) : -1;
      const found = all[index];
      if (!found) throw channelErrors.binding_not_found(key);
      await db.commit([db.remove('bindings', { id: found.id }, { expect: 1 }), changed()]);
      return { index, id: found.id };
    },
    agentFor: async (account, message, chosen, person) => {
      const holding = (await list()).filter(({ rule }) => fits(rule, account.name, message)).sort((a, b) => weightOf(b.rule) - weightOf(a.rule));
      for (const { agent, ownerId } of holding) {
        const found = await named(ownerId, agent, person);
        if (found) return found;
      }
      for (const name of [chosen, textField(account, 'default_agent')]) {
        const found = name === undefined || name === '' ? undefined : await named(account.ownerId, name, person);
        if (found) return found;
      }
      const asker = person ?? actors.of(account.ownerId);
      return (await agents.list(asker)).find(({ ownerId }) => ownerId === asker.ownerId);
    },
  };
};
