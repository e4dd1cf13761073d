import { expect } from 'chai';
import type { DriverEvent, ModelMessage } from '../src/contract.js';
import { calculate } from '../src/drivers/arithmetic.js';
import { createBuiltinDriver } from '../src/drivers/builtin.js';
import { stepsOf } from '../src/drivers/plain-request.js';
import { request } from './gateway-rig.js';

const tools = ['file_write', 'file_read', 'file_list', 'system_time'].map((name) => ({ name, description: name, parameters: { type: 'object' } }));
const target = { provider: 'builtin', model: 'rehearsal', baseUrl: '', timeoutMs: 1_000 };
const user = (text: string): ModelMessage => ({ role: 'user', parts: [{ type: 'text', text }] });

const rehearse = async (messages: readonly ModelMessage[], offered = tools): Promise<DriverEvent[]> => {
  const events: DriverEvent[] = [];
  await createBuiltinDriver().ask(target, request({ messages, tools: offered }), new AbortController().signal, (event) => void events.push(event));
  return events;
};
const textOf = (events: readonly DriverEvent[]): string => events.map((event) => (event.type === 'text' ? event.text : '')).join('');

/** Plays the agent loop: every call gets the result that `perform` gives. */
const drive = async (text: string, perform: (tool: string, args: unknown) => string): Promise<string> => {
  const messages: ModelMessage[] = [user(text)];
  for (let turn = 0; turn < 10; turn++) {
    const events = await rehearse(messages);
    const call = events.find((event) => event.type === 'call');
    if (!call) return textOf(events);
    const args: unknown = JSON.parse(call.argsText);
    messages.push({ role: 'assistant', parts: [{ type: 'tool_call', id: call.id, name: call.name, args }] });
    messages.push({ role: 'user', parts: [{ type: 'tool_result', id: call.id, name: call.name, content: perform(call.name, args), isError: false }] });
  }
  throw new Error('it never came to an end');
};

describe('the rehearsal mock provider', () => {
  it('says what it is, what it understood and how to get a real model', async () => {
    const events = await rehearse([user('Tell me about the moon')]);
    const text = textOf(events);
    expect(text).to.contain('mock provider').and.to.contain('Tell me about the moon').and.to.contain('svc providers set-key');
    expect(events.filter((event) => event.type === 'text').length).to.be.greaterThan(5);
    expect(events.at(-1)).to.deep.equal({ type: 'stop', reason: 'end' });
  });

  it('gives the same events for the same request', async () => {
    for (const text of ['hello', 'write hello to notes.txt']) expect(await rehearse([user(text)])).to.deep.equal(await rehearse([user(text)]));
  });

  it('writes a file and then reads it, from one sentence', async () => {
    const files = new Map<string, string>();
    const calls: string[] = [];
    const text = await drive('Please write hello world to notes.txt then read it', (tool, args) => {
      const { path, content } = args as { path: string; content?: string };
      calls.push(tool);
      if (content !== undefined) files.set(path, content);
      return tool === 'file_read' ? (files.get(path) ?? 'missing') : 'written';
    });
    expect(calls).to.deep.equal(['file_write', 'file_read']);
    expect(files.get('notes.txt')).to.equal('hello world');
    expect(text).to.contain('hello world').and.to.contain('mock provider');
  });

  it('gives each call of a session an id of its own', async () => {
    const first = (await rehearse([user('read a.txt')])).find((event) => event.type === 'call');
    const later = (await rehearse([user('read a.txt'), { role: 'assistant', parts: [{ type: 'text', text: 'done' }] }, user('read a.txt')])).find((event) => event.type === 'call');
    expect(first?.id)
      .to.match(/^call_/)
      .and.not.equal(later?.id);
  });

  it('stops at a tool that failed, and at one it may not use', async () => {
    const asked = user('write a to a.txt then read it');
    const call: ModelMessage = { role: 'assistant', parts: [{ type: 'tool_call', id: 'c', name: 'file_write', args: {} }] };
    const failed = await rehearse([asked, call, { role: 'user', parts: [{ type: 'tool_result', id: 'c', name: 'file_write', content: 'disk full', isError: true }] }]);
    expect(textOf(failed)).to.contain('Failed: file_write a.txt').and.to.contain('disk full');
    expect(textOf(await rehearse([asked], []))).to.contain('may not use');
  });

  const understood: Array<[string, unknown]> = [
    ['write "a, b; then c" to x/y.md', { tool: 'file_write', args: { path: 'x/y.md', content: 'a, b; then c' } }],
    ['Create a file called todo.txt with buy milk', { tool: 'file_write', args: { path: 'todo.txt', content: 'buy milk' } }],
    ['please save the words good night into the file dream.txt', { tool: 'file_write', args: { path: 'dream.txt', content: 'the words good night' } }],
    ['read notes.txt', { tool: 'file_read', args: { path: 'notes.txt' } }],
    ['show me the contents of the file src/a.ts', { tool: 'file_read', args: { path: 'src/a.ts' } }],
    ['list files', { tool: 'file_list', args: { path: '.' } }],
    ['list the files in docs', { tool: 'file_list', args: { path: 'docs' } }],
    ['What time is it?', { tool: 'system_time', args: {} }],
    ['what is the current date', { tool: 'system_time', args: {} }],
  ];
  for (const [text, step] of understood) {
    it(`understands: ${text}`, () => {
      expect(stepsOf(text).map((found) => (found.do === 'call' ? { tool: found.tool, args: found.args } : found))).to.deep.equal([step]);
    });
  }

  it('calculates without evaluating code', async () => {
    expect(textOf(await rehearse([user('calculate 2+3*4')]))).to.contain('2+3*4 = 14');
    expect(calculate('(1 + 2) * -3 ^ 2')).to.equal(-27);
    expect(calculate('0.1 + 0.2')).to.equal(0.3);
    for (const text of ['1/0', '2+', '(1', '1 2 3x', 'process.exit()', '('.repeat(150)]) expect(calculate(text), text).to.equal(undefined);
  });

  it('takes ordinary sentences for what they are', () => {
    for (const text of ['What is the meaning of life?', 'write me a poem', 'read between the lines', 'I like to list things']) expect(stepsOf(text), text).to.deep.equal([]);
  });
});
