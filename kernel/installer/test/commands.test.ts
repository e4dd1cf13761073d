/** Declared commands are held to the routes that they call, when an extension is built and again when it is installed. */
import { type CommandDecl, type CommandWordDecl, type CompletionDecl, defineRoute, type ExtensionDefinition, bytes, reply, Type } from '@svc/api';
import type { Manifest } from '@svc/api/internal';
import { expect } from 'chai';
import { deriveContributions, namesOf } from '../src/contributions.js';
import { areaWordsOf } from '../src/commands/area-words.js';
import { completionsOf } from '../src/commands/completions.js';

const manifest: Manifest = { manifest: 1, id: 'goals', api: '^0.1.0' };
const Goal = Type.Object({ id: Type.String(), title: Type.String(), agent: Type.Union([Type.Object({ name: Type.String() }), Type.Null()]), labels: Type.Any() });
const usual = { auth: 'bearer', permission: 'goals.read', cost: 1, summary: 'Goals' } as const;
const routes = [
  defineRoute({
    ...usual,
    id: 'listGoals',
    method: 'GET',
    path: '/api/goals',
    query: Type.Object({ limit: Type.Integer({ default: 5 }) }),
    responses: { 200: Type.Object({ goals: Type.Array(Goal), total: Type.Integer() }) },
    handler: async () => reply(200, { goals: [], total: 0 }),
  }),
  defineRoute({
    ...usual,
    id: 'updateGoal',
    method: 'PUT',
    path: '/api/goals/{id}',
    idempotent: true,
    params: Type.Object({ id: Type.String() }),
    body: Type.Object({ title: Type.String(), done: Type.Optional(Type.Boolean()) }),
    responses: { 200: Goal },
    handler: async () => reply(200, { id: 'g1', title: 'a goal', agent: null, labels: [] }),
  }),
  defineRoute({
    ...usual,
    id: 'getPicture',
    method: 'GET',
    path: '/api/goals/picture',
    responses: { 200: { description: 'A picture', contentType: 'image/png' } },
    handler: async () => bytes(200, 'image/png', ''),
  }),
];
const list: CommandDecl = {
  command: 'goals list',
  summary: 'all goals',
  operation: 'listGoals',
  output: { kind: 'table', rows: 'goals', columns: [{ field: 'title' }, { field: 'agent.name' }, { field: 'labels.any' }], empty: 'None.' },
};
const update: CommandDecl = {
  command: 'goals update',
  summary: 'change one',
  operation: 'updateGoal',
  args: ['title'],
  confirm: 'Change {id}?',
  output: { kind: 'line', text: '{id} is now {title}; done: {done}.' },
};

const derive = (commands: readonly CommandDecl[], commandWords: readonly CommandWordDecl[] = []) => {
  const definition: ExtensionDefinition = { commands, commandWords, activate: (ctx) => void ctx.routes.add(...routes) };
  return deriveContributions(definition, manifest, '1.0.0');
};
const refusal = async (command: Partial<CommandDecl>, words: readonly CommandWordDecl[] = []): Promise<string> =>
  derive([{ ...list, ...command }], words).then(
    () => 'taken',
    (error: unknown) => String(error),
  );

describe('declared commands', () => {
  it('stand in contributions.json as they are declared, and take their arguments and flags from the route', async () => {
    const all = await derive([list, update]);
    expect(all.commands).to.deep.equal([list, update]);
    expect(namesOf(all).commandWords).to.deep.equal(['goals']);
    const [word] = areaWordsOf('goals', 'Goals of agents. Kept in order.', all, [{ hub: 'automate' }]);
    expect(word).to.deep.include({ word: 'goals', summary: 'goals of agents', area: 'goals', hub: 'automate' });
    expect(areaWordsOf('goals', 'A2A for agents', all)[0]).to.include({ summary: 'A2A for agents', hub: 'more' });
    const resolved = word?.commands[1];
    expect(resolved).to.deep.include({ method: 'PUT', path: '/api/goals/{id}', takesKey: true, body: 'json', isBodyRequired: true });
    expect(resolved?.args.map(({ from, isRequired, name }) => [name, from, isRequired])).to.deep.equal([
      ['id', 'path', true],
      ['title', 'body', true],
    ]);
    expect(resolved?.flags).to.deep.equal([{ name: 'done', from: 'body', isRequired: false, schema: { type: 'boolean' } }]);
    expect(word?.commands[0]?.flags).to.deep.equal([{ name: 'limit', from: 'query', isRequired: false, schema: { type: 'integer', default: 5 } }]);
  });

  it('may begin with a word that the extension declares', async () => {
    const all = await derive([{ ...list, command: 'aims list' }], [{ word: 'aims', summary: 'the aims' }]);
    expect(areaWordsOf('goals', 'Goals', all).map(({ summary, word }) => [word, summary])).to.deep.equal([['aims', 'the aims']]);
  });

  for (const [what, command, words] of [
    ['calls nothing, which is not an operation', { operation: 'nothing' }, []],
    ['calls getPicture, which does not answer with JSON', { operation: 'getPicture' }, []],
    ['takes the argument "size", which is not a field of listGoals', { args: ['size'] }, []],
    ['asks about {id}, which is not a field of listGoals', { confirm: 'Sure about {id}?' }, []],
    ['prints "items", which listGoals does not answer', { output: { ...list.output, rows: 'items' } }, []],
    ['prints the rows of "total", which is not a list', { output: { ...list.output, rows: 'total' } }, []],
    ['prints "agent.age", which listGoals does not answer', { output: { kind: 'table', rows: 'goals', columns: [{ field: 'agent.age' }], empty: 'None.' } }, []],
    ['prints "count", which listGoals does not answer', { output: { kind: 'record', fields: ['count'] } }, []],
    ['prints "count", which listGoals does not answer', { output: { kind: 'line', text: '{count} goals' } }, []],
    ['begins with "aims", which is neither the id of the extension nor one of its commandWords', { command: 'aims list' }, []],
    ['must be two words', { command: 'goals' }, []],
    ['the command word "status" belongs to the command line itself', { command: 'status all' }, [{ word: 'status', summary: 'mine' }]],
    ['the command word "Aims" is not lower-case', {}, [{ word: 'Aims', summary: 'mine' }]],
  ] as const)
    it(`are refused where one ${what}`, async () => expect(await refusal(command as Partial<CommandDecl>, words)).to.contain(what)); // a row of the table holds a part of a command

  it('are refused where two are one', async () => {
    expect(
      await derive([list, list]).then(
        () => 'taken',
        (error: unknown) => String(error),
      ),
    ).to.contain('"goals list" is declared twice');
  });
});

describe('what an extension offers to Tab', () => {
  const source: CompletionDecl = { name: 'goals', fields: ['goal'], operation: 'listGoals', rows: 'goals', value: 'title' };
  const derived = (completions: readonly CompletionDecl[]) => deriveContributions({ completions, activate: (ctx) => void ctx.routes.add(...routes) }, manifest, '1.0.0');

  it('stands in contributions.json, and comes with the path of its route', async () => {
    expect(completionsOf(await derived([source]))).to.deep.equal([{ ...source, path: '/api/goals' }]);
  });

  for (const [what, wish] of [
    ['has the name of a shell', { name: 'zsh' }],
    ['is not a GET of this extension that needs nothing', { operation: 'updateGoal' }],
    ['is not a GET of this extension that needs nothing', { operation: 'listAgents' }],
    ['is not a list that listGoals answers', { rows: 'total' }],
    ['is not a field of the rows of listGoals', { value: 'secret' }],
    ['has no fields', { fields: ['$(reboot)'] }],
  ] as const)
    it(`is refused where it ${what}: ${JSON.stringify(wish)}`, async () => {
      const failure: unknown = await derived([{ ...source, ...wish }]).catch((error: unknown) => error);
      expect(String(failure)).to.contain(what);
    });
});
