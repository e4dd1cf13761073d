import { expect } from 'chai';
import type { DriverEvent, ModelMessage } from '../src/contract.js';
import { calculate } from '../src/drivers/arithmetic.js';
import { createBuiltinDriver } from '../src/drivers/builtin.js';
import { stepsOf } from '../src/drivers/plain-request.js';
import { request } from './gateway-rig.js';

describe('sums of the rehearsal mock provider', () => {
  it('follow the rules of arithmetic', () => {
    const table: ReadonlyArray<readonly [string, number]> = [
      ['1+2-4', -1],
      ['10-2-3', 5],
      ['2*3/4', 1.5],
      ['7%4*2', 6],
      ['100/10/5', 2],
      ['2^3^2', 512],
      ['-2^2', -4],
      ['2^-1', 0.5],
      ['2--3', 5],
      ['((2))', 2],
      ['(1+2)*(3+4)', 21],
      ['2×3', 6],
      ['7÷2', 3.5],
      ['.5+1.', 1.5],
      ['10/4', 2.5],
      ['1/3', 0.333333333333],
    ];
    for (const [text, value] of table) expect(calculate(text), text).to.equal(value);
  });

  it('are nothing where they have no value, no end, or too much of either', () => {
    for (const text of ['', '1+', '*2', '1**2', '(1', '1)', '()', '1 + x', '1.2.3', '2^', '-', '0/0', '9^999^9']) expect(calculate(text), text).to.equal(undefined);
    expect(calculate(`1${'+1'.repeat(99)}`)).to.equal(100);
    expect(calculate(`1${'+1'.repeat(99)}  `)).to.equal(undefined);
    expect(calculate(`${'('.repeat(49)}1${')'.repeat(49)}`)).to.equal(1);
    expect(calculate(`${'('.repeat(50)}1${')'.repeat(50)}`)).to.equal(undefined);
    expect(
      calculate(
        Array.from({ length: 60 }, () => '(1)')
          .join('+')
          .slice(0, 199),
      ),
    ).to.equal(50);
  });
});

describe('plain sentences', () => {
  const write = (path: string, content: string) => ({ do: 'call', tool: 'file_write', args: { path, content } });
  const read = (path: string) => ({ do: 'call', tool: 'file_read', args: { path } });
  const list = (path: string) => ({ do: 'call', tool: 'file_list', args: { path } });
  const TIME = { do: 'call', tool: 'system_time', args: {} };

  it('are several steps where they say then, and, or a semicolon', () => {
    expect(stepsOf('write a to a.txt, then read it')).to.deep.equal([write('a.txt', 'a'), read('a.txt')]);
    expect(stepsOf('write a to a.txt. Afterwards show me it')).to.deep.equal([write('a.txt', 'a'), read('a.txt')]);
    expect(stepsOf('read a.txt; read b.txt')).to.deep.equal([read('a.txt'), read('b.txt')]);
    expect(stepsOf('list files and tell me the time')).to.deep.equal([list('.'), TIME]);
    expect(stepsOf('read a.txt and then list the files in docs and then open that')).to.deep.equal([read('a.txt'), list('docs'), read('a.txt')]);
    expect(stepsOf('calculate 1+1 and calculate 2+2')).to.deep.equal([
      { do: 'say', text: '1+1 = 2' },
      { do: 'say', text: '2+2 = 4' },
    ]);
  });

  it('mean a file by `it` only once they named one', () => {
    expect(stepsOf('read it')).to.deep.equal([]);
    expect(stepsOf('list files in docs then read it')).to.deep.equal([list('docs')]);
  });

  it('are at most eight steps', () => {
    expect(stepsOf(Array.from({ length: 12 }, (_, index) => `read ${index}.txt`).join('; '))).to.have.length(8);
  });

  it('keep what stands in quotes together, whatever words are in it', () => {
    expect(stepsOf('write "one; then two and list files" to a.txt then read it')).to.deep.equal([write('a.txt', 'one; then two and list files'), read('a.txt')]);
    expect(stepsOf('write “this then that” to a.txt')).to.deep.equal([write('a.txt', 'this then that')]);
    expect(stepsOf('write `x` to `a.txt`')).to.deep.equal([write('a.txt', 'x')]);
    expect(stepsOf("save 'it' into the file named todo")).to.deep.equal([write('todo', 'it')]);
  });

  it('find files by their ending, their folder, or the word file before them', () => {
    expect(stepsOf('read docs/intro')).to.deep.equal([read('docs/intro')]);
    expect(stepsOf('cat the file README')).to.deep.equal([read('README')]);
    expect(stepsOf('print "a-b.c.md"')).to.deep.equal([read('a-b.c.md')]);
    expect(stepsOf('create a new file notes.md containing: the text hello there')).to.deep.equal([write('notes.md', 'hello there')]);
    expect(stepsOf('make x.txt that says hi')).to.deep.equal([write('x.txt', 'hi')]);
  });

  it('ask for the time or the list in the words people use', () => {
    for (const text of ["what's the time", 'tell me the date', 'current time please', 'what time is it']) expect(stepsOf(text), text).to.deep.equal([TIME]);
    for (const text of ['ls', 'what files are there', 'show me all my files', 'list the workspace']) expect(stepsOf(text), text).to.deep.equal([list('.')]);
    expect(stepsOf('show the folder of src/lib')).to.deep.equal([list('src/lib')]);
  });

  it('ask for a sum in the words people use', () => {
    for (const text of ['what is 2 + 3?', "what's 2 + 3.", 'work out 2 + 3', 'how much is 2 + 3 ', 'compute 2 + 3 . ']) expect(stepsOf(text), text).to.deep.equal([{ do: 'say', text: '2 + 3 = 5' }]);
    expect(stepsOf('what is 5 apples')).to.deep.equal([{ do: 'say', text: '5 = 5' }]);
    expect(stepsOf('calculate 1/0')).to.deep.equal([]);
  });

  it('are read no farther than three thousand letters, whatever blanks stand between', () => {
    expect(stepsOf(`${'x'.repeat(2_900)}; read a.txt`)).to.deep.equal([read('a.txt')]);
    expect(stepsOf(`${'x'.repeat(3_000)}; read a.txt`)).to.deep.equal([]);
    expect(stepsOf(`write a${' '.repeat(2_000)}to a.txt`)).to.deep.equal([write('a.txt', 'a')]);
  });
});

describe('what the rehearsal mock provider answers', () => {
  const tools = ['file_write', 'file_read'].map((name) => ({ name, description: name, parameters: {} }));
  const target = { provider: 'builtin', model: 'rehearsal', baseUrl: '', timeoutMs: 1_000 };
  const user = (text: string): ModelMessage => ({ role: 'user', parts: [{ type: 'text', text }] });
  const result = (content: string, isError = false): ModelMessage => ({ role: 'user', parts: [{ type: 'tool_result', id: 'c', name: 't', content, isError }] });
  const called: ModelMessage = { role: 'assistant', parts: [{ type: 'tool_call', id: 'c', name: 't', args: {} }] };
  const rehearse = async (messages: readonly ModelMessage[], signal = new AbortController().signal): Promise<DriverEvent[]> => {
    const events: DriverEvent[] = [];
    await createBuiltinDriver().ask(target, request({ messages, tools }), signal, (event) => void events.push(event));
    return events;
  };
  const textOf = (events: readonly DriverEvent[]): string => events.map((event) => (event.type === 'text' ? event.text : '')).join('');
  const say = async (...messages: ModelMessage[]) => textOf(await rehearse(messages));

  it('shows each result under what was done, in the order it was asked', async () => {
    const text = await say(user('read a.txt then calculate 1+1 then read b.txt'), called, result('of a'), called, result('of b'));
    expect(text).to.match(/Done: file_read a\.txt\nof a[\s\S]*1\+1 = 2[\s\S]*Done: file_read b\.txt\nof b/);
  });

  it('shows nothing after what failed', async () => {
    const text = await say(user('read a.txt then read b.txt'), called, result('gone', true));
    expect(text).to.contain('Failed: file_read a.txt\ngone').and.not.to.contain('b.txt');
  });

  it('counts only results since the person last spoke', async () => {
    const events = await rehearse([user('read a.txt'), called, result('of a'), { role: 'assistant', parts: [{ type: 'text', text: 'done' }] }, user('read b.txt')]);
    expect(events[0]).to.deep.include({ type: 'call', name: 'file_read', argsText: '{"path":"b.txt"}' });
    expect(events[1]).to.deep.equal({ type: 'stop', reason: 'tool_calls' });
  });

  it('takes nothing that the assistant said for what the person asked', async () => {
    const said: ModelMessage = { role: 'assistant', parts: [{ type: 'text', text: 'read b.txt' }, ...called.parts] };
    const text = await say(user('read a.txt'), said, result('of a'), { role: 'assistant', parts: [{ type: 'text', text: 'read b.txt' }] });
    expect(text).to.contain('Done: file_read a.txt\nof a').and.not.to.contain('b.txt');
  });

  it('shows long results in part, and long questions too', async () => {
    const text = await say(user('read a.txt'), called, result('y'.repeat(5_000)));
    expect(/y+/.exec(text)?.[0]).to.have.length(4_000);
    expect(await say(user(`moon  ${'z'.repeat(300)}`))).to.contain(`"moon ${'z'.repeat(155)}…"`);
    expect(await say(user('z'.repeat(160)))).to.contain(`"${'z'.repeat(160)}"`);
  });

  it('says so when there was nothing to understand', async () => {
    for (const messages of [[], [user('  ')]]) expect(await say(...messages)).to.contain('There was no text to understand');
  });

  it('comes in pieces of at most some words, that end between words', async () => {
    const pieces = (await rehearse([user('the moon')])).flatMap((event) => (event.type === 'text' ? [event.text] : []));
    expect(pieces.every((piece) => piece.length <= 25)).to.equal(true);
    expect(pieces.slice(0, 5).every((piece) => /\s$/.test(piece))).to.equal(true);
  });

  it('ends with its caller', async () => {
    const error = await rehearse([user('the moon')], AbortSignal.abort()).catch((caught: unknown) => caught);
    expect(error).to.have.property('errorClass', 'cancelled');
  });
});
