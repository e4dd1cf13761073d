/** The daemon that the clients of others talk to, and a model that answers by what it is asked. Prints its address, and ends with its input. */
import { bootWithModel, stopModelKernels } from '../model-kernel.js';
import type { ScriptedAnswer } from '@svc/fixtures/providers/openai-server';

interface Turn {
  readonly role: string;
  readonly content: unknown;
}

const SLOW_PIECES = 200;

const answerTo = (turns: readonly Turn[]): ScriptedAnswer => {
  const last = JSON.stringify(turns.at(-1)?.content ?? '');
  if (last.includes('image_url')) return { text: 'a pixel' };
  if (last.includes('count')) return { deltas: ['one ', 'two ', 'three'], usage: { input: 8, output: 4 } };
  if (last.includes('go on and on')) return { deltas: Array.from({ length: SLOW_PIECES }, (_, index) => `${index} `), eventDelayMs: 100 };
  if (last.includes('refuse')) return { status: 400, message: 'this question is refused' };
  if (last.includes('how many turns')) return { text: `${turns.filter(({ role }) => role !== 'system').length} turns` };
  return { text: 'four', usage: { input: 11, output: 3 } };
};

const svc = await bootWithModel(({ body }) => answerTo(body.messages));
process.stdout.write(`${svc.kernel.url}\n`);
process.stdin.resume();
process.stdin.on('end', () => void stopModelKernels());
