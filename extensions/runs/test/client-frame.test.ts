/** What a client may send over the socket, and what it is told when it sends something else. */
import { expect } from 'chai';
import { parseClientFrame } from '../src/frames/client-frame.js';

const parse = (frame: unknown) => parseClientFrame(JSON.stringify(frame));
const message = (content: string, rest: object = {}) => ({ type: 'message', content, extras: {}, ...rest });

describe('a frame that a client sends', () => {
  it('that is no JSON object is a message as it stands', () => {
    for (const text of ['hello', '42', 'null', 'true', '"quoted"', '{broken']) expect(parseClientFrame(text), text).to.deep.equal(message(text));
  });

  it('of type message carries its content, and the id that its end shall name', () => {
    expect(parse({ type: 'message', content: 'hello' })).to.deep.equal(message('hello'));
    expect(parse({ type: 'message', content: ' kept as it is ', message_id: 'm1' })).to.deep.equal(message(' kept as it is ', { messageId: 'm1' }));
  });

  it('may name itself with 128 letters, of which more are not kept, and with nothing but text', () => {
    expect(parse({ type: 'message', content: 'x', message_id: 'm'.repeat(129) })).to.deep.equal(message('x', { messageId: 'm'.repeat(128) }));
    expect(parse({ type: 'message', content: 'x', message_id: 7 })).to.deep.equal(message('x'));
  });

  it('loses control characters, and keeps tabs and line breaks', () => {
    expect(parse({ type: 'message', content: 'a\u0000b\u0007c\u001bd\u007fe\tf\ng\r\u000bh\u000ci' })).to.deep.equal(message('abcde\tf\ng\rhi'));
    expect(parseClientFrame('a\u0001b')).to.deep.equal(message('ab'));
  });

  it('of type message may say how it is meant', () => {
    expect(parse({ type: 'message', content: 'x', ephemeral: true, incognito: false, thinking: true, idempotency_key: 'k', session_id: 's', attachments: [] })).to.deep.equal(
      message('x', { extras: { ephemeral: true, incognito: false, thinking: true, key: 'k', sessionId: 's' } }),
    );
  });

  for (const [field, value] of [
    ['ephemeral', 'yes'],
    ['incognito', 1],
    ['thinking', null],
    ['idempotency_key', 5],
    ['session_id', null],
    ['attachments', [{}]],
    ['attachments', [null]],
    ['attachments', [{ file_id: '' }]],
    ['attachments', [{ file_id: 'f', filename: 7 }]],
    ['attachments', Array.from({ length: 21 }, () => ({ file_id: 'f' }))],
    ['attachments', 'a.png'],
    ['attachments', null],
  ] as const)
    it(`is refused with words about it when ${field} is ${JSON.stringify(value)}: it must not become a message that means something else`, () => {
      expect(parse({ type: 'message', content: 'x', [field]: value }))
        .to.be.a('string')
        .that.contains(field);
    });

  it('of type message may bring files, and then needs no words', () => {
    const attachments = [
      { file_id: 'f1', content_type: 'image/png' },
      { file_id: 'f2', filename: 'b.md' },
    ];
    const extras = { attachments: [{ fileId: 'f1' }, { fileId: 'f2', filename: 'b.md' }] };
    expect(parse({ type: 'message', content: 'look', attachments })).to.deep.equal(message('look', { extras }));
    expect(parse({ type: 'message', attachments })).to.deep.equal(message('', { extras }));
  });

  it('of type message without words is refused', () => {
    for (const content of [undefined, null, 7, '', ' \n']) expect(parse({ type: 'message', content }), String(content)).to.be.a('string');
  });

  it('of type command is a message that begins with one slash', () => {
    expect(parse({ type: 'command', command: 'help' })).to.deep.equal(message('/help'));
    expect(parse({ type: 'command', command: '/model', args: 'gpt-4o', message_id: 'm1' })).to.deep.equal(message('/model gpt-4o', { messageId: 'm1' }));
    expect(parse({ type: 'command', command: 'Usage', args: '' })).to.deep.equal(message('/Usage'));
    expect(parse({ type: 'command', command: `a${'b'.repeat(63)}` })).to.deep.equal(message(`/a${'b'.repeat(63)}`));
  });

  it('of type command is refused with what is not the name of one, or args that are no text', () => {
    for (const command of [undefined, 5, '', '/', '//help', 'two words', '-x', `a${'b'.repeat(64)}`])
      expect(parse({ type: 'command', command }), String(command))
        .to.be.a('string')
        .that.contains('command');
    for (const args of [5, null, ['x']])
      expect(parse({ type: 'command', command: 'help', args }), String(args))
        .to.be.a('string')
        .that.contains('args');
  });

  it('of type resume names the last frame that came', () => {
    expect(parse({ type: 'resume', last_event_id: 'r.1.2', message_id: 'm1' })).to.deep.equal({ type: 'resume', content: 'r.1.2', messageId: 'm1', extras: {} });
    expect(parse({ type: 'resume' }))
      .to.be.a('string')
      .that.contains('last_event_id');
    expect(parse({ type: 'resume', last_event_id: 5 })).to.be.a('string');
  });

  it('of type ping needs nothing', () => {
    expect(parse({ type: 'ping', message_id: 'm1' })).to.deep.equal({ type: 'ping', content: '', extras: {} });
  });

  it('of another type is told which there are', () => {
    expect(parse({ type: 'shout' }))
      .to.be.a('string')
      .that.contains('"shout"')
      .and.contains('ping');
    expect(parse({})).to.be.a('string').that.contains('null');
    expect(parse([])).to.be.a('string');
  });
});
