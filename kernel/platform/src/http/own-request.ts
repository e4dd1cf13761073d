/**
 * A request of the daemon to itself, for checks of what others get. The connection is a pair of streams that the server takes for one
 * from elsewhere, so the request is parsed, admitted and answered like every other, and nothing is sent over a network.
 */
import { type IncomingMessage, request, type Server } from 'node:http';
import { duplexPair } from 'node:stream';

/** Of the block that RFC 5737 reserves for documentation: it is nobody's address, so it shares no one's rate limit. */
const SOMEWHERE_ELSE = '192.0.2.1';
/** Without an API key only names of this machine are taken as a Host. */
const HOST = '127.0.0.1';
const TIMEOUT_MS = 2_000;
const MAX_BODY_BYTES = 1_048_576;

export interface OwnAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export const anonymousGet = async (server: Server, path: string): Promise<OwnAnswer> => {
  const [ours, theirs] = duplexPair();
  try {
    return await new Promise<OwnAnswer>((resolve, reject) => {
      const asked = request({ path, headers: { host: HOST, connection: 'close' }, createConnection: () => ours, signal: AbortSignal.timeout(TIMEOUT_MS) });
      asked.once('error', reject);
      asked.once('response', (answer) => {
        answerOf(answer).then(resolve, reject);
      });
      asked.end();
      server.emit('connection', Object.assign(theirs, { remoteAddress: SOMEWHERE_ELSE }));
    });
  } finally {
    ours.destroy();
    theirs.destroy();
  }
};

const answerOf = async (answer: IncomingMessage): Promise<OwnAnswer> => {
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of answer) {
    pieces.push(piece);
    bytes += piece.length;
    if (bytes > MAX_BODY_BYTES) break;
  }
  const headers = Object.fromEntries(Object.entries(answer.headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : (value ?? '')]));
  return { status: answer.statusCode ?? 0, headers, body: Buffer.concat(pieces).toString('utf8') };
};
