/** The message of a snapshot: what a person reads in a list, and what programs read below it. */
const MAX_PATH_CHARS = 80;
const MAX_SHOWN_PATHS = 3;

export interface Occasion {
  readonly tool: string;
  readonly agentId: string;
  readonly sessionId: string;
  readonly runId: string;
  readonly callId: string;
  /** Null for a program. */
  readonly paths: readonly string[] | null;
}

export const messageOf = ({ tool, agentId, sessionId, runId, callId, paths }: Occasion): string => {
  const preview = previewOf(paths);
  return [`before ${tool}${preview === '' ? '' : ` ${preview}`}`, '', `agent: ${agentId}`, `session: ${sessionId}`, `tool: ${tool}`, `path: ${preview}`, `run: ${runId}`, `call: ${callId}`, ''].join(
    '\n',
  );
};

const previewOf = (paths: readonly string[] | null): string => {
  if (!paths || paths.length === 0) return '';
  const shown = paths.slice(0, MAX_SHOWN_PATHS).map(oneLine).join(', ');
  const more = paths.length > MAX_SHOWN_PATHS ? ` and ${paths.length - MAX_SHOWN_PATHS} more` : '';
  return (shown.length > MAX_PATH_CHARS ? `${shown.slice(0, MAX_PATH_CHARS - 1)}…` : shown) + more;
};

/** A name with a line break must not add lines to the message. */
const oneLine = (path: string): string => path.replaceAll(/\p{C}/gu, '�');

/** What the message of a snapshot says, field by field; texts of an earlier or a foreign message are empty. */
export const readMessage = (message: string): { title: string; tool: string; path: string; sessionId: string; runId: string } => {
  const [title = ''] = message.split('\n', 1);
  const field = (name: string): string => new RegExp(`^${name}: (.*)$`, 'm').exec(message)?.[1] ?? '';
  return { title, tool: field('tool'), path: field('path'), sessionId: field('session'), runId: field('run') };
};
