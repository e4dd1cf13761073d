/** `svc sessions`: conversations. */
import { type Action, type Cli, type Command, EXIT, type Outcome, agoText, agreesAtTerminal, oneLine, printable, table, usageFailure } from '@svc/cli/area';
import { findAgent } from '@svc/ext-agents/cli';
import type { OutputOf } from '@svc/client';
import { defineSharing } from './sessions/sharing.js';
import { eachSession, findSessions, type SessionRow } from './sessions/session-lookup.js';

type Message = OutputOf<'getSessionById'>['messages'][number];

const SESSION = 'its id, the start of its id, or its label';
const USUAL_LIMIT = '50';
const MAX_TOOL_CHARS = 300;

export const define = (program: Command, action: Action): void => {
  const sessions = program.command('sessions').description('List, search and delete conversations').helpCommand(false);
  sessions
    .command('list')
    .description('List sessions, newest first')
    .argument('[agent]', 'only of this agent: name or id')
    .option('--active', 'only sessions with an active run')
    .option('--tag <tag>', 'only sessions with this tag')
    .option('--deleted', 'deleted conversations that can be restored')
    .option('--limit <n>', 'maximum number', USUAL_LIMIT)
    .action(action((cli, agent: string | undefined, flags: ListFlags) => list(cli, agent, flags)));
  sessions
    .command('show')
    .description('Show a session')
    .argument('<session>', SESSION)
    .action(action((cli, wanted: string) => show(cli, wanted)));
  sessions
    .command('rename')
    .description("Set a session's label; an empty label removes it")
    .argument('<session>', SESSION)
    .argument('<label>')
    .action(action((cli, wanted: string, label: string) => rename(cli, wanted, label)));
  sessions
    .command('delete')
    .description('Delete sessions with all their messages')
    .argument('<sessions...>', SESSION)
    .option('--erase', 'at once, so that nobody can restore them')
    .action(action((cli, wanted: string[], flags: { erase?: boolean }) => remove(cli, wanted, flags.erase === true)));
  sessions
    .command('restore')
    .description('Restore deleted conversations, with all versions')
    .argument('<sessions...>', SESSION)
    .action(action((cli, wanted: string[]) => restore(cli, wanted)));
  sessions
    .command('tag')
    .description("Set a conversation's tags; none removes them")
    .argument('<session>', SESSION)
    .argument('[tags...]')
    .action(action((cli, wanted: string, tags: string[]) => tag(cli, wanted, tags)));
  defineSharing(sessions, action);
  sessions
    .command('search')
    .description('Search messages that contain all these words')
    .argument('<words...>')
    .option('--agent <agent>', 'only of this agent: name or id')
    .option('--limit <n>', 'maximum number', USUAL_LIMIT)
    .action(action((cli, words: string[], flags: { agent?: string; limit: string }) => search(cli, words, flags)));
};

interface ListFlags {
  readonly active?: boolean;
  readonly deleted?: boolean;
  readonly limit: string;
  readonly tag?: string;
}

const MAX_LIMIT = 500;

const limitOf = (text: string): number => {
  const limit = /^\d{1,6}$/.test(text) ? Number(text) : 0;
  if (limit < 1 || limit > MAX_LIMIT) throw usageFailure(`--limit is "${text}"; a whole number from 1 to ${MAX_LIMIT} was expected.`);
  return limit;
};

const list = async (cli: Cli, agent: string | undefined, flags: ListFlags): Outcome => {
  const limit = limitOf(flags.limit);
  const daemon = await cli.daemon();
  const of = {
    ...(agent === undefined ? {} : { agent_id: (await findAgent(daemon, agent)).id }),
    ...(flags.tag === undefined ? {} : { tag: flags.tag }),
    ...(flags.deleted ? ({ deleted: 'only' } as const) : {}),
  };
  const found: SessionRow[] = [];
  // One that is active may stand far behind.
  for await (const row of eachSession(daemon, of, flags.active ? undefined : limit)) {
    if (flags.active !== true || row.active) found.push(row);
    if (found.length >= limit) break;
  }
  if (cli.json) cli.out.json({ sessions: found, total: found.length });
  else if (found.length === 0)
    cli.out.line(
      flags.active ? 'No session has an active run.' : flags.deleted ? 'No deleted conversation can be restored.' : flags.tag === undefined ? 'No messages yet.' : 'No session has this tag.',
    );
  else printList(cli, found);
  return EXIT.ok;
};

const printList = (cli: Cli, found: readonly SessionRow[]): void => {
  const now = Date.now();
  const { bold, dim, green } = cli.out;
  const rows = found.map((row) => [
    printable(row.label ?? '(no messages yet)').replace(/\s+/g, ' '),
    row.agent_name ?? '(gone)',
    String(row.message_count),
    agoText(row.last_message_at ?? row.created_at, now),
    row.restorable_until !== undefined ? `until ${row.restorable_until.slice(0, 10)}` : row.active ? 'active' : row.is_canonical ? 'current' : '',
    row.id,
  ]);
  const columns = [{ title: 'LABEL', shrinks: true }, { title: 'AGENT' }, { title: 'MESSAGES', givesWay: true }, { title: 'LAST', givesWay: true }, { title: 'NOW', givesWay: true }, { title: 'ID' }];
  const paint = (text: string, column: number, row: number): string => {
    if (row < 0 || column === 3 || column === 5) return dim(text);
    if (column === 0) return found[row]?.is_labelled ? bold(text) : text;
    return column === 4 && found[row]?.active ? green(text) : text;
  };
  for (const line of table(columns, rows, cli.out.width, paint)) cli.out.line(line);
};

const show = async (cli: Cli, wanted: string): Outcome => {
  const daemon = await cli.daemon();
  const [id = ''] = await findSessions(daemon, [wanted]);
  const session = await daemon.call('getSessionById', { id });
  if (cli.json) {
    cli.out.json(session);
    return EXIT.ok;
  }
  const { bold, dim } = cli.out;
  cli.out.line(`${bold(printable(session.label ?? '(no label)'))}  ${dim(`${session.agent_name ?? 'deleted agent'}, begun ${session.created_at}, ${session.id}`)}`);
  let speaker = '';
  for (const message of session.messages) {
    const next = speakerOf(message, session.agent_name ?? 'agent');
    // What a tool brought in stands below its call, and the next words of an agent below that.
    if (next !== undefined && next !== speaker) cli.out.line(`\n${dim(next)}`);
    speaker = next ?? speaker;
    for (const line of linesOf(message, cli)) cli.out.line(line);
  }
  return EXIT.ok;
};

/** Undefined for results of tools alone: nobody says them. */
const speakerOf = ({ content, is_summary, role }: Message, agent: string): string | undefined => {
  if (is_summary) return 'summary of earlier messages';
  if (typeof content !== 'string' && content.every(({ type }) => type === 'tool_result')) return undefined;
  return role === 'user' ? 'you' : role === 'assistant' ? agent : 'system';
};

const linesOf = ({ content }: Message, { out }: Cli): string[] => {
  if (typeof content === 'string') return [printable(content)];
  return content.map((block) => {
    if (block.type === 'text') return printable(block.text);
    if (block.type === 'image') return out.dim(`  [picture, ${printable(block.media_type)}]`);
    if (block.type === 'tool_use') return out.dim(`  › ${printable(block.name)} ${oneLine(JSON.stringify(block.input), MAX_TOOL_CHARS)}`);
    return `  ${block.is_error ? out.red('✗') : out.green('✓')} ${out.dim(oneLine(block.content, MAX_TOOL_CHARS))}`;
  });
};

const rename = async (cli: Cli, wanted: string, label: string): Outcome => {
  const daemon = await cli.daemon();
  const [id = ''] = await findSessions(daemon, [wanted]);
  const answer = await daemon.call('updateSessionLabel', { id, body: { label: label.trim() === '' ? null : label } });
  if (cli.json) cli.out.json(answer);
  else cli.out.line(`${cli.out.green('✓')} ${label.trim() === '' ? 'The label was removed.' : `It is called ${cli.out.bold(answer.label ?? '')} from now on.`}`);
  return EXIT.ok;
};

const tag = async (cli: Cli, wanted: string, tags: string[]): Outcome => {
  const daemon = await cli.daemon();
  const [id = ''] = await findSessions(daemon, [wanted]);
  const answer = await daemon.call('setSessionTags', { id, body: { tags } });
  if (cli.json) cli.out.json(answer);
  else cli.out.line(`${cli.out.green('✓')} ${answer.tags.length === 0 ? 'The conversation has no tags.' : `Tags: ${answer.tags.join(', ')}`}`);
  return EXIT.ok;
};

const remove = async (cli: Cli, wanted: readonly string[], erase: boolean): Outcome => {
  const daemon = await cli.daemon();
  // All are found before the first one goes.
  const ids = await findSessions(daemon, wanted);
  const what = ids.length === 1 ? 'this session and all its messages' : `${ids.length} sessions and all their messages`;
  if (!(await agreesAtTerminal(cli, `${erase ? 'Erase' : 'Delete'} ${what}?${erase ? ' This cannot be undone.' : ''}`))) return EXIT.ok;
  let until: string | null = null;
  for (const id of ids) until = (await daemon.call('deleteSession', { id, ...(erase ? { erase } : {}) })).restorable_until ?? until;
  if (cli.json) cli.out.json({ status: 'deleted', session_ids: ids, restorable_until: until });
  else
    cli.out.line(
      `${cli.out.green('✓')} ${ids.length === 1 ? 'The session is' : `${ids.length} sessions are`} ${until === null ? 'erased' : `deleted; until ${until.slice(0, 10)}: svc sessions restore ${ids.join(' ')}`}`,
    );
  return EXIT.ok;
};

const restore = async (cli: Cli, wanted: readonly string[]): Outcome => {
  const daemon = await cli.daemon();
  const ids = await findSessions(daemon, wanted, { deleted: 'only' });
  for (const id of ids) await daemon.call('archiveSession', { id, body: { archived: false } });
  if (cli.json) cli.out.json({ status: 'restored', session_ids: ids });
  else cli.out.line(`${cli.out.green('✓')} ${ids.length === 1 ? 'The conversation is' : `${ids.length} conversations are`} back`);
  return EXIT.ok;
};

const search = async (cli: Cli, words: readonly string[], flags: { agent?: string; limit: string }): Outcome => {
  const limit = limitOf(flags.limit);
  const daemon = await cli.daemon();
  const of = flags.agent === undefined ? {} : { agent_id: (await findAgent(daemon, flags.agent)).id };
  const found = await daemon.call('searchSessions', { q: words.join(' '), limit, ...of });
  if (cli.json) cli.out.json(found);
  else await printHits(cli, found, words.join(' ').split(/\s+/));
  return EXIT.ok;
};

const printHits = async (cli: Cli, { indexed_until, items, total, total_is_exact }: OutputOf<'searchSessions'>, words: readonly string[]): Promise<void> => {
  const { markWords } = await import('./sessions/found-words.js');
  const { bold, dim, yellow } = cli.out;
  const now = Date.now();
  for (const hit of items) {
    cli.out.line(`${bold(printable(hit.label ?? '(no label)'))}  ${dim(`${hit.agent_name ?? 'deleted agent'}, ${agoText(hit.timestamp, now)}, ${hit.session_id}`)}`);
    cli.out.line(`  ${dim(hit.role === 'user' ? 'you' : (hit.agent_name ?? 'agent'))}  ${markWords(printable(hit.snippet), words, (found) => bold(yellow(found)))}`);
  }
  if (items.length === 0) cli.out.line('No message contains all of these words.');
  else if (total > items.length) cli.out.note(dim(`${items.length} of ${total_is_exact ? '' : 'at least '}${total}; --limit shows more`));
  if (indexed_until !== undefined) cli.out.note(yellow(`Older messages are still being indexed: messages since ${indexed_until} on may be missing.`));
};
