/** Clients of every kind that keep a daemon busy and write down whatever is in an unexpected state. */
import type { TestHttp } from '@svc/testing';
import type { Script } from '@svc/fixtures/providers/openai-server';
import { type Chat, openChat } from '../clients/chat-socket.js';

export interface Load {
  /** One line per thing that went wrong. */
  readonly problems: readonly string[];
  /** Every message that was sent. */
  readonly sent: ReadonlySet<string>;
  count(): { blocking: number; streamed: number; chatted: number; reads: number };
  /** Ends the loops after what they are doing, and closes the sockets. */
  stop(): Promise<void>;
}

/** The model says again what it was told last, in two pieces: each answer belongs to exactly one message. */
export const echo: Script = ({ body }) => ({ deltas: ['re: ', lastText(body.messages)] });

/** What a request to the model asks about: the last part of its last turn, before which a summary of the conversation may stand. */
export const lastText = (messages: ReadonlyArray<{ role: string; content: unknown }>): string => {
  const { content } = messages.findLast((message) => message.role === 'user') ?? { content: '' };
  return typeof content === 'string' ? content : ((content as Array<{ text?: string }>).at(-1)?.text ?? '');
};

export const makeAgents = async (http: TestHttp, count: number): Promise<string[]> => {
  const ids: string[] = [];
  for (let n = 0; n < count; n++) ids.push((await http.expect(201, 'POST', '/api/agents', { name: `load-${n}` })).body.agent_id);
  return ids;
};

const READS = ['/api/agents', '/api/status', '/api/tools', '/api/providers', '/api/models', '/api/extensions', '/api/health'];

/** Two agents per kind of client, and one reader of everything that can be read. */
export const startLoad = async (http: TestHttp, url: string, reads: readonly string[] = READS): Promise<Load> => {
  const [b1, b2, s1, s2, c1, c2] = (await makeAgents(http, 6)) as [string, string, string, string, string, string];
  const chats = await Promise.all([c1, c2].map((agent) => openChat(url, agent)));
  const problems: string[] = [];
  const sent = new Set<string>();
  const counts = { blocking: 0, streamed: 0, chatted: 0, reads: 0 };
  let isOver = false;
  const message = (kind: string): string => {
    const text = `${kind} message ${sent.size}`;
    sent.add(text);
    return text;
  };
  const check = (kind: keyof typeof counts, is: boolean, what: () => string): void => {
    counts[kind]++;
    if (!is) problems.push(`${kind}: ${what()}`);
  };

  const blocking = async (agent: string): Promise<void> => {
    const text = message('blocking');
    const answer = await http.post(`/api/agents/${agent}/message`, { message: text });
    check('blocking', answer.status === 200 && answer.body?.response === `re: ${text}`, () => `${text} got ${answer.status} ${answer.text.slice(0, 200)}`);
  };
  const streamed = async (agent: string): Promise<void> => {
    const text = message('streamed');
    const events = await http.events('POST', `/api/agents/${agent}/message/stream`, { message: text });
    const said = events.flatMap((one) => (one.event === 'chunk' ? [one.data.content] : [])).join('');
    const ends = events.filter((one) => one.event === 'done' || one.event === 'error');
    check('streamed', said === `re: ${text}` && ends.length === 1 && events.at(-1)?.event === 'done', () => `${text} got ${events.map((one) => one.event).join(' ')}: ${said}`);
  };
  const chatted = async (chat: Chat): Promise<void> => {
    const text = message('chatted');
    chat.send({ type: 'message', content: text, message_id: text });
    const end = await chat.next('response', 'error');
    check('chatted', end.type === 'response' && end.content === `re: ${text}`, () => `${text} got ${JSON.stringify(end)}`);
  };
  let turn = 0;
  const read = async (): Promise<void> => {
    const path = reads[turn++ % reads.length] as string; // never empty
    const answer = await http.get(path);
    check('reads', answer.status === 200, () => `GET ${path} got ${answer.status} ${answer.text.slice(0, 200)}`);
  };
  const loop = async (work: () => Promise<void>): Promise<void> => {
    while (!isOver) await work().catch((error: unknown) => problems.push(String(error)));
  };
  const loops = [...[b1, b2].map((agent) => loop(() => blocking(agent))), ...[s1, s2].map((agent) => loop(() => streamed(agent))), ...chats.map((chat) => loop(() => chatted(chat))), loop(read)];
  return {
    problems,
    sent,
    count: () => counts,
    stop: async () => {
      isOver = true;
      await Promise.all(loops);
      for (const chat of chats) chat.socket.close();
    },
  };
};
