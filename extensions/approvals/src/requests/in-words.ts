/** A request in a few lines of plain text, for a chat: made from the arguments of the call, with no character that a reader cannot see. */
import type { RequestRow } from '../contract.js';

const MAX_CHARS = 600;
const SHORT = 8;

/** The end of an id: its beginning is the time, which requests of one minute share. */
export const shortId = (id: string): string => id.slice(-SHORT);

interface Preview {
  readonly kind: string;
  readonly line?: string;
  readonly method?: string;
  readonly url?: string;
  readonly text?: string;
  readonly files?: ReadonlyArray<{ readonly path: string; readonly change: string; readonly added: number; readonly removed: number }>;
}

/** Its invisible characters are numbers already, as far as they come from the preview; line breaks would fake lines of svc. */
const oneLine = (text: string): string => text.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ').trim();

export const callInWords = ({ agent_name: agent, tool, preview }: Pick<RequestRow, 'agent_name' | 'tool' | 'preview'>): string => {
  const { kind, line, method, url, text, files = [] } = (typeof preview === 'string' ? JSON.parse(preview) : preview) as Preview; // what `rowOf` stored
  const shown =
    kind === 'command'
      ? (line ?? '')
      : kind === 'request'
        ? `${method} ${url}`
        : kind === 'diff'
          ? files.map(({ path, change, added, removed }) => `${change} ${path} (+${added} -${removed})`).join(', ')
          : (text ?? '');
  const whole = oneLine(shown);
  const cut = whole.length > MAX_CHARS ? `${whole.slice(0, MAX_CHARS)} … (cut: svc approvals show)` : whole;
  return `${agent === '' ? 'The agent' : agent} uses ${tool}: ${cut}`;
};

/** What a person is asked in a chat. */
export const questionOf = (row: RequestRow): string => `I need your approval (${row.risk} risk).\n${callInWords(row)}\nWrite /approve ${shortId(row.id)} or /deny ${shortId(row.id)}.`;
