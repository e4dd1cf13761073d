/**
 * `/approve` and `/deny`: requests decided in the conversation that waits for them.
 *
 * Q1  Without an id, the command means the one request that waits in its conversation. Of several, and of those of other conversations, it takes an id alone.
 * Q2  The answer says what was approved or denied, as it was shown.
 */
import { type Actor, defineSlashCommand, isSvcError, type SlashAnswer, type SlashCommand } from '@svc/api';
import type { RequestRow } from './contract.js';
import { type DecisionDeps, decideOne, type Given } from './requests/decisions.js';
import { callInWords, shortId } from './requests/in-words.js';

const MOST = 100;
const LISTED = 10;
const ID = /^[0-9a-f]{8}$|^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

interface Call {
  readonly actor: Actor;
  readonly sessionId: string;
  readonly args: string;
}

export const approvalSlashCommands = (deps: DecisionDeps): SlashCommand[] => [
  defineSlashCommand({
    name: 'approve',
    usage: '/approve [ID] [CODE]',
    summary: 'Approve what this conversation waits for',
    permission: 'approvals.write',
    takes: 'text',
    order: 37,
    run: (call) => decided(deps, call, (rest) => ({ decision: 'approve', ...(rest === '' ? {} : { code: rest }) })),
  }),
  defineSlashCommand({
    name: 'deny',
    usage: '/deny [ID] [REASON]',
    summary: 'Reject what this conversation waits for; the agent reads the reason',
    permission: 'approvals.write',
    takes: 'text',
    order: 37,
    run: (call) => decided(deps, call, (rest) => ({ decision: 'reject', ...(rest === '' ? {} : { feedback: rest }) })),
  }),
];

const decided = async (deps: DecisionDeps, { actor, sessionId, args }: Call, given: (rest: string) => Given): Promise<SlashAnswer> => {
  const { rows } = await deps.store.list(actor, { state: 'pending' }, { limit: MOST, offset: 0 });
  const [first = ''] = args.split(/\s+/, 1);
  const named = ID.test(first) ? first.toLowerCase() : undefined;
  const here = rows.filter((row) => row.session_id === sessionId);
  const fitting = named === undefined ? here : rows.filter(({ id }) => id === named || shortId(id) === named);
  const [row] = fitting;
  if (!row) return { message: named === undefined ? nothingHere(rows) : `No request ${named} waits for you.`, data: { waiting: rows.length } };
  if (fitting.length > 1) return { message: `${fitting.length} requests wait. Name one by its id:\n${listOf(fitting)}`, data: { waiting: rows.length } };
  const rest = named === undefined ? args : args.slice(first.length).trim();
  try {
    const { id, state } = await decideOne(deps, actor, row.id, given(rest));
    return { message: `${state === 'approved' ? 'Approved' : 'Denied'}: ${callInWords(row)}`, data: { id, status: state } };
  } catch (error) {
    if (!isSvcError(error)) throw error;
    return { message: [error.message, error.hint].join(' ').trim(), data: { id: row.id, error: error.code } };
  }
};

const nothingHere = (others: readonly RequestRow[]): string =>
  others.length === 0 ? 'Nothing waits for you.' : `Nothing waits for you in this conversation. In others, name one by its id:\n${listOf(others)}`;

const listOf = (rows: readonly RequestRow[]): string =>
  [...rows.slice(0, LISTED).map((row) => `- ${shortId(row.id)}: ${callInWords(row)}`), ...(rows.length > LISTED ? [`and ${rows.length - LISTED} more: svc approvals`] : [])].join('\n');
