/** `svc memory`: keys and values, facts and relations of agents. */
import { readFile } from 'node:fs/promises';
import { type Action, type Cli, type Command, type DaemonClient, agoText, agreesAtTerminal, EXIT, Failure, type Outcome, printable, readStdin, table } from '@svc/cli/area';
import { findAgent } from '@svc/ext-agents/cli';
import type { OutputOf } from '@svc/client';

const POLL_MS = 500;
/** Longer than one batch may take. */
const FAILING_MS = 10_000;
const STUCK_MS = 120_000;
const AGENT = 'name or id of the agent; "all" for what all agents share';
const OF_AGENT = 'name or id of the agent';
const ID = 'id of an entry, as search and add show it';
type Level = 'user' | 'session' | 'agent';

export const define = (program: Command, action: Action): void => {
  const memory = program.command('memory').description('What agents remember: keys and values, facts, relations').helpCommand(false);
  defineKeys(memory, action);
  defineEntries(memory, action);
  defineExchange(memory, action);
};

const defineKeys = (memory: Command, action: Action): void => {
  memory
    .command('list')
    .description('List the key-value pairs of an agent')
    .argument('<agent>', OF_AGENT)
    .action(action((cli, agent: string) => listKeys(cli, agent)));
  memory
    .command('get')
    .description('Show the value of a key')
    .argument('<agent>', OF_AGENT)
    .argument('<key>', 'the key')
    .action(action((cli, agent: string, key: string) => getKey(cli, agent, key)));
  memory
    .command('set')
    .description('Set the value of a key')
    .argument('<agent>', OF_AGENT)
    .argument('<key>', 'the key')
    .argument('<value>', 'JSON, or else a text')
    .action(action((cli, agent: string, key: string, value: string) => setKey(cli, agent, key, value)));
  memory
    .command('delete')
    .description('Delete a key')
    .argument('<agent>', OF_AGENT)
    .argument('<key>', 'the key')
    .action(action((cli, agent: string, key: string) => deleteKey(cli, agent, key)));
};

const defineEntries = (memory: Command, action: Action): void => {
  memory
    .command('search')
    .description('Search what an agent remembers, by words and meaning')
    .argument('<agent>', AGENT)
    .argument('<question...>', 'in your own words')
    .option('--limit <count>', 'how many at most', '10')
    .option('--archive', 'look among archived entries')
    .action(action((cli, agent: string, question: string[], flags: { limit: string; archive?: boolean }) => search(cli, agent, question.join(' '), flags)));
  memory
    .command('add')
    .description('Remember something')
    .argument('<agent>', AGENT)
    .argument('<text...>', 'what to remember')
    .option('--user <name>', 'a label for the person it is about')
    .option('--tag <tag...>', 'tags')
    .option('--level <level>', 'user, session or agent')
    .action(action((cli, agent: string, text: string[], flags: AddFlags) => add(cli, agent, text.join(' '), flags)));
  memory
    .command('show')
    .description('Show an entry and where it is from')
    .argument('<id>', ID)
    .action(action((cli, id: string) => show(cli, id)));
  memory
    .command('history')
    .description('Show earlier texts of an entry')
    .argument('<id>', ID)
    .action(action((cli, id: string) => history(cli, id)));
  memory
    .command('forget')
    .description('Erase an entry')
    .argument('<id>', ID)
    .action(action((cli, id: string) => forget(cli, id)));
};

const defineExchange = (memory: Command, action: Action): void => {
  memory
    .command('export')
    .description('Write the entries of an agent to stdout, as JSON')
    .argument('<agent>', OF_AGENT)
    .action(action((cli, agent: string) => exportAll(cli, agent)));
  memory
    .command('import')
    .description('Import entries that an export wrote')
    .argument('<agent>', OF_AGENT)
    .argument('<file>', 'a JSON file; "-" reads stdin')
    .action(action((cli, agent: string, file: string) => importAll(cli, agent, file)));
  memory
    .command('reindex')
    .description('Make the vectors of what an agent remembers anew, and follow it')
    .argument('<agent>', OF_AGENT)
    .action(action((cli, agent: string) => reindex(cli, agent)));
  memory
    .command('graph')
    .description('List relations that an agent knows of')
    .argument('<agent>', OF_AGENT)
    .option('--from <name>', 'only from this entity')
    .option('--to <name>', 'only to this entity')
    .option('--depth <steps>', 'how many steps from there', '1')
    .action(action((cli, agent: string, flags: { from?: string; to?: string; depth: string }) => graph(cli, agent, flags)));
};

interface AddFlags {
  readonly user?: string;
  readonly tag?: string[];
  readonly level?: string;
}

const at = async (cli: Cli, wanted: string): Promise<{ daemon: DaemonClient; id: string }> => {
  const daemon = await cli.daemon();
  const { id } = await findAgent(daemon, wanted);
  return { daemon, id };
};

/** `all` is no agent: what all of them share. */
const atOrAll = async (cli: Cli, wanted: string): Promise<{ daemon: DaemonClient; agent: { readonly agent_id?: string } }> => {
  if (wanted === 'all') return { daemon: await cli.daemon(), agent: {} };
  const { daemon, id } = await at(cli, wanted);
  return { daemon, agent: { agent_id: id } };
};

const listKeys = async (cli: Cli, wanted: string): Outcome => {
  const { daemon, id } = await at(cli, wanted);
  const found = await daemon.call('listMemoryKeys', { id });
  if (cli.json) cli.out.json(found);
  else if (found.kv_pairs.length === 0) cli.out.line('There are no keys.');
  else
    for (const line of table(
      [{ title: 'KEY' }, { title: 'VALUE', shrinks: true }],
      found.kv_pairs.map(({ key, value }) => [printable(key), printable(JSON.stringify(value))]),
      cli.out.width,
    ))
      cli.out.line(line);
  return EXIT.ok;
};

const getKey = async (cli: Cli, wanted: string, key: string): Outcome => {
  const { daemon, id } = await at(cli, wanted);
  const found = await daemon.call('getMemoryKey', { id, key });
  if (cli.json) cli.out.json(found);
  else cli.out.line(typeof found.value === 'string' ? printable(found.value) : JSON.stringify(found.value));
  return EXIT.ok;
};

const parsedValue = (text: string): unknown => {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
};

const setKey = async (cli: Cli, wanted: string, key: string, text: string): Outcome => {
  const { daemon, id } = await at(cli, wanted);
  const stored = await daemon.call('setMemoryKey', { id, key, body: { value: parsedValue(text) } });
  if (cli.json) cli.out.json(stored);
  else cli.out.line(`${cli.out.green('✓')} ${printable(key)} is stored.`);
  return EXIT.ok;
};

const deleteKey = async (cli: Cli, wanted: string, key: string): Outcome => {
  const { daemon, id } = await at(cli, wanted);
  const deleted = await daemon.call('deleteMemoryKey', { id, key });
  if (cli.json) cli.out.json(deleted);
  else cli.out.line(`${cli.out.green('✓')} ${printable(key)} is deleted.`);
  return EXIT.ok;
};

const search = async (cli: Cli, wanted: string, q: string, flags: { limit: string; archive?: boolean }): Outcome => {
  const { daemon, agent } = await atOrAll(cli, wanted);
  const found = await daemon.call('searchMemories', { q, limit: Number(flags.limit), ...agent, ...(flags.archive ? { archive: true } : {}) });
  if (cli.json) cli.out.json(found);
  else if (found.memories.length === 0) cli.out.line('Nothing was found.');
  else {
    const now = Date.now();
    const rows = found.memories.map((one) => [one.id, one.score.toFixed(2), one.why.join('+'), agoText(one.created_at, now), printable(one.content.replace(/\s+/g, ' '))]);
    for (const line of table([{ title: 'ID' }, { title: 'SCORE' }, { title: 'WHY' }, { title: 'SINCE' }, { title: 'CONTENT', shrinks: true }], rows, cli.out.width)) cli.out.line(line);
  }
  return EXIT.ok;
};

const add = async (cli: Cli, wanted: string, content: string, { user, tag, level }: AddFlags): Outcome => {
  const { daemon, agent } = await atOrAll(cli, wanted);
  const body = { content, ...agent, ...(user === undefined ? {} : { user_id: user }), ...(tag === undefined ? {} : { tags: tag }), ...(level === undefined ? {} : { level: level as Level }) };
  const answer = await daemon.call('addMemory', { body });
  if (cli.json) cli.out.json(answer);
  else cli.out.line(`${cli.out.green('✓')} ${answer.added === 0 ? 'This was known already' : 'Remembered'}: ${answer.memories[0]?.id ?? ''}`);
  return EXIT.ok;
};

/** A whole id, or first digits that only one has: those of entries made together are alike. */
const wholeId = async (daemon: DaemonClient, id: string): Promise<string> => {
  if (id.length >= 36) return id;
  const found: string[] = [];
  const { total } = await daemon.call('listMemories', { limit: 1 });
  for (let offset = 0; offset < total; offset += 100) {
    const { memories } = await daemon.call('listMemories', { limit: 100, offset });
    found.push(...memories.filter((one) => one.id.startsWith(id.toLowerCase())).map((one) => one.id));
  }
  const [only, second] = found;
  if (only !== undefined && second === undefined) return only;
  if (second !== undefined) throw new Failure(`Several memory entries begin with ${id}.`, { code: 'cli_ambiguous_memory', fix: 'give the whole id' });
  throw new Failure(`There is no memory entry ${id}.`, { code: 'cli_no_memory', fix: 'svc memory search AGENT WORDS shows ids' });
};

const show = async (cli: Cli, wanted: string): Outcome => {
  const daemon = await cli.daemon();
  const found = await daemon.call('getMemoryHistory', { memory_id: await wholeId(daemon, wanted) });
  if (cli.json) cli.out.json(found.memory);
  else report(cli, found);
  return EXIT.ok;
};

const report = ({ out }: Cli, { memory, version_count: versions }: OutputOf<'getMemoryHistory'>): void => {
  out.line(printable(memory.content));
  out.line('');
  const facts: ReadonlyArray<readonly [string, string]> = [
    ['id', memory.id],
    ['level', memory.level],
    ['source', memory.origin === null ? memory.source : `${memory.source}, from ${memory.origin.source}`],
    ['agent', memory.agent_id ?? 'all agents'],
    ['conversation', memory.session_id ?? 'none'],
    ['since', memory.created_at],
    ['confidence', memory.confidence.toFixed(2)],
    ['earlier texts', String(versions)],
    ...(memory.superseded_by === null ? [] : [['replaced by', memory.superseded_by] as const]),
  ];
  for (const [name, value] of facts) out.line(`${out.dim(name.padEnd(14))} ${printable(value)}`);
};

const history = async (cli: Cli, wanted: string): Outcome => {
  const daemon = await cli.daemon();
  const found = await daemon.call('getMemoryHistory', { memory_id: await wholeId(daemon, wanted) });
  if (cli.json) cli.out.json(found);
  else {
    cli.out.line(`now  ${printable(found.memory.content)}`);
    for (const { content, replaced_at: until } of found.versions) cli.out.line(`${cli.out.dim(`until ${until}`)}  ${printable(content)}`);
  }
  return EXIT.ok;
};

const forget = async (cli: Cli, wanted: string): Outcome => {
  const daemon = await cli.daemon();
  const id = await wholeId(daemon, wanted);
  const { memory } = await daemon.call('getMemoryHistory', { memory_id: id });
  if (!(await agreesAtTerminal(cli, `Erase "${printable(memory.content.slice(0, 100))}"? This cannot be undone.`))) return EXIT.ok;
  const answer = await daemon.call('deleteMemory', { memory_id: id });
  if (cli.json) cli.out.json(answer);
  else {
    cli.out.line(`${cli.out.green('✓')} Erased.`);
    for (const { kind, id: where, note } of answer.still_held_by) cli.out.line(`${cli.out.yellow('!')} ${kind}${where === null ? '' : ` ${where}`}: ${note}`);
  }
  return EXIT.ok;
};

const exportAll = async (cli: Cli, wanted: string): Outcome => {
  const { daemon, id } = await at(cli, wanted);
  cli.out.json(await daemon.call('exportMemories', { id }));
  return EXIT.ok;
};

const importAll = async (cli: Cli, wanted: string, file: string): Outcome => {
  const { daemon, id } = await at(cli, wanted);
  const text = file === '-' ? await readStdin() : await readFile(file, 'utf8').catch(() => undefined);
  const rows = text === undefined ? undefined : rowsOf(text);
  if (!rows)
    throw new Failure(`${file} holds no memories.`, {
      code: 'cli_no_memories',
      why: text === undefined ? 'it cannot be read' : 'it is not a JSON list of entries',
      fix: 'svc memory export AGENT > file.json writes one',
    });
  const answer = await daemon.call('importMemories', { id, body: { memories: rows } });
  if (cli.json) cli.out.json(answer);
  else cli.out.line(`${cli.out.green('✓')} ${answer.imported} imported, ${answer.skipped} already there.`);
  return EXIT.ok;
};

/** Follows the work; it goes on in the daemon where nobody does. */
const reindex = async (cli: Cli, wanted: string): Outcome => {
  const { daemon, id } = await at(cli, wanted);
  await daemon.call('refreshMemoryVectors', { id });
  let [shown, movedAt] = [-1, Date.now()];
  for (;;) {
    const { total, vectors } = await daemon.call('getAgentMemoryStats', { id });
    const { indexed, embedder } = vectors;
    if (indexed !== shown) movedAt = Date.now();
    // A line for each tenth.
    if (Math.floor((indexed * 10) / Math.max(1, total)) !== Math.floor((shown * 10) / Math.max(1, total))) cli.out.note(`${indexed} of ${total} entries have a vector`);
    shown = indexed;
    if (indexed >= total) {
      if (cli.json) cli.out.json({ agent_id: id, total, vectors });
      else cli.out.line(`${cli.out.green('✓')} ${total === 1 ? '1 entry has a vector' : `${total} entries have vectors`}${embedder === null ? '' : ` of ${embedder}`}.`);
      return EXIT.ok;
    }
    const waited = Date.now() - movedAt;
    if (waited > STUCK_MS || (vectors.failing && waited > FAILING_MS))
      throw new Failure(`${indexed} of ${total} entries have a vector, and no more are made.`, {
        code: 'cli_memory_not_indexed',
        why: vectors.failing ? 'the embedder fails' : 'the work has not gone on for two minutes',
        fix: '`svc doctor` names the embedder and its last error; the rest is tried again within an hour, and words find the entries until then',
      });
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
};

const rowsOf = (text: string): unknown[] | undefined => {
  const parsed = parsedValue(text);
  const rows = Array.isArray(parsed) ? parsed : (parsed as { memories?: unknown } | null)?.memories;
  return Array.isArray(rows) ? rows : undefined;
};

const graph = async (cli: Cli, wanted: string, { from, to, depth }: { from?: string; to?: string; depth: string }): Outcome => {
  const { daemon, id } = await at(cli, wanted);
  const found = await daemon.call('queryMemoryRelations', { id, max_depth: Number(depth), ...(from === undefined ? {} : { source: from }), ...(to === undefined ? {} : { target: to }) });
  if (cli.json) cli.out.json(found);
  else if (found.count === 0) cli.out.line('There are no such relations.');
  else
    for (const line of table(
      [{ title: 'FROM' }, { title: 'RELATION' }, { title: 'TO', shrinks: true }],
      found.matches.map((one) => [printable(one.source.name), printable(one.relation.type), printable(one.target.name)]),
      cli.out.width,
    ))
      cli.out.line(line);
  return EXIT.ok;
};
