/**
 * Questions of agents in the chat that waits for them.
 *
 * Q1  Where an agent waits for an approval, its chat hears of it, once: a person reads what is to be decided and how, a guest that somebody else decides.
 * Q2  A guest decides nothing, and is not shown what the agent is about to do.
 */
import type { Actor, Actors, Db, Journal, OptionalHandle } from '@svc/api';
import type { ApprovalsService } from '@svc/ext-approvals/contract';
import type { Accounts } from './accounts.js';
import { ChannelMessage, type DeliveryRow } from './contract.js';
import { answer } from './inbox.js';
import type { Links } from './links.js';
import type { Outbox } from './outbox.js';

export interface QuestionDeps {
  readonly db: Db;
  readonly journal: Pick<Journal, 'root' | 'get'>;
  readonly actors: Actors;
  readonly accounts: Accounts;
  readonly links: Pick<Links, 'personOf'>;
  readonly outbox: Outbox;
  readonly approvals: OptionalHandle<ApprovalsService>;
}

interface Asked {
  readonly id: string;
  readonly runId: string;
}

const FOR_GUESTS = 'I need the approval of my owner for this, and go on when they have decided.';

/** Does nothing for runs that no message of a channel began. Durable when it resolves. */
export const askInChat = async (deps: QuestionDeps, { id, runId }: Asked): Promise<void> => {
  const row = await messageBehind(deps, runId);
  if (row?.status !== 'received') return;
  const person = await personBehind(deps, row);
  const question = await deps.approvals.value?.question(person ?? deps.actors.of(row.owner_id), id);
  if (question === undefined) return;
  await answer(deps, row, `approval:${id}`, person ? question : FOR_GUESTS);
};

const messageBehind = async ({ db, journal, actors }: QuestionDeps, runId: string): Promise<DeliveryRow | undefined> => {
  const root = await journal.root(runId);
  if (root?.kind !== ChannelMessage.name) return undefined;
  const run = await journal.get(actors.system('questions of agents'), root.id);
  if (!run) return undefined;
  const { deliveryId } = run.input as { readonly deliveryId: string }; // what `receive` stored
  return db.system('a message of a channel').first<DeliveryRow>({ from: 'deliveries', where: { id: deliveryId } });
};

/** Whose agent answers; undefined for a guest. */
const personBehind = async ({ accounts, links }: QuestionDeps, row: DeliveryRow): Promise<Actor | undefined> => {
  const account = await accounts.find(row.channel);
  const person = account && (await links.personOf(account, accounts.adapterOf(row.channel), row.sender ?? row.chat));
  return person?.ownerId === row.owner_id ? person : undefined;
};
