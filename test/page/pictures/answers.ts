/** What the models of the pictures say: the same each time. */
import type { RecordedRequest, ScriptedAnswer } from '@svc/fixtures/providers/openai-server';

const COSTS = 'month,hosting,models,total\nAugust,41.00,18.20,59.20\nSeptember,41.00,27.95,68.95\nOctober,44.50,22.10,66.60\n';

const COSTS_ANSWER = `## What the last three months cost

**September** cost most: the models were used for the yearly report. I wrote the sums to \`costs.csv\`.

| month | hosting | models | total |
|---|--:|--:|--:|
| August | 41.00 | 18.20 | 59.20 |
| September | 41.00 | 27.95 | **68.95** |
| October | 44.50 | 22.10 | 66.60 |

The mean is $\\bar{x} = \\frac{1}{3}\\sum_{i=1}^{3} x_i = 64.92$. To add a month:

\`\`\`js
const total = ({ hosting, models }) => hosting + models;
rows.push({ month: 'November', hosting: 44.5, models: 19.8 });
\`\`\`

- [x] sums of three months
- [ ] the invoice of November`;

const PLAN = '# Garden\n\n- water the tomatoes at 7\n- cut the hedge in March\n';
const NEW_PLAN = '# Garden\n\n- water the tomatoes at 6:30\n- cut the hedge in March\n- order seeds before 15 January\n';

interface Message {
  readonly role: string;
  readonly content: unknown;
}

const textOf = ({ content }: Message): string => (typeof content === 'string' ? content : JSON.stringify(content ?? ''));

/** Of its own for each question, so that charts have a shape. */
const sizeOf = (text: string): number => [...text].reduce((sum, letter) => (sum * 31 + (letter.codePointAt(0) ?? 0)) % 997, 7);

const afterTool = (messages: readonly Message[]): boolean => {
  const last = messages.at(-1);
  return last?.role === 'tool' || (Array.isArray(last?.content) && JSON.stringify(last.content).includes('tool_result'));
};

/** Answers by the words of the last question; `hung` is never answered. */
export const answerOf = ({ body }: RecordedRequest): ScriptedAnswer => {
  const messages: readonly Message[] = body.messages ?? [];
  if (JSON.stringify(body).includes('You name conversations.')) return { text: '' };
  const asked = textOf(messages.findLast(({ role, content }) => role === 'user' && !JSON.stringify(content).includes('tool_result')) ?? { role: 'user', content: '' });
  if (JSON.stringify(body).includes('You review one tool call')) return { text: '{"decision":"ask","reason":"The plan is on paper elsewhere, too: a person decides."}' };
  const size = sizeOf(asked);
  const usage = { input: 9_000 + 45 * size, output: 600 + 5 * size };
  if (asked.includes('cost most'))
    return afterTool(messages)
      ? { text: COSTS_ANSWER, usage }
      : { thoughts: 'Three months are in the ledger. The sums first, then a file.', toolCalls: [{ name: 'file_write', args: { path: 'costs.csv', content: COSTS } }], usage };
  if (asked.includes('watering earlier'))
    return afterTool(messages) ? { text: 'The plan is changed.', usage } : { toolCalls: [{ name: 'file_write', args: { path: 'plan.md', content: NEW_PLAN } }], usage };
  if (asked.includes('whole archive')) return { hang: true };
  if (asked.includes('old endpoint')) return { status: 400, message: 'The model does not accept this parameter.' };
  return { text: `Done: ${asked.slice(0, 60).trim()}`, usage, delayMs: 40 + (size % 90) };
};

export const FILES: Readonly<Record<string, string>> = {
  'plan.md': PLAN,
  'notes/tomatoes.md': '# Tomatoes\n\nSow indoors in February, plant out after the last frost.\n',
  'notes/hedge.md': '# Hedge\n\nBeech. Cut once a year.\n',
  'seeds.csv': 'name,packets\ntomato,3\nbasil,2\npumpkin,1\n',
};
