/**
 * A program of somebody else that connects a platform: lines of JSON on its standard input and output.
 *
 * D1  Stored values reach the environment of this one child and nothing else.
 * D2  A line that is no event is counted and dropped; one of more than 64 MiB ends the program.
 * D3  A program that ends, or does not say `ready` in time, is started again by the supervisor; what it wrote on standard error last is the reason.
 * D4  What it says of a sign-in by QR code is shown where WhatsApp is signed in to, if it is its gateway.
 * D5  A program that does not read what it is sent is ended and started again. One that says the capability `heartbeat` with `ready` answers each `heartbeat`
 *     with `heartbeat_ack`, and is ended when it did not for 45 s; of others, silence says nothing.
 */
import type { ChildHandle } from '@svc/api';
import { envSecret } from '../account.js';
import { type Adapter, ChannelFault, type Connection, type Incoming } from './adapter.js';
import { jsonLines } from './http.js';

const MAX_LINE = 64 * 1024 * 1024;
const BEAT_MS = 15_000;
/** How long a line may stay unread. */
const READ_MS = 30_000;
/** Three beats. */
const ACK_MS = 45_000;
const READY_SECS = 30;
const MAX_SAID = 500;
/** How long the last words of a program are waited for when it has ended. */
const WORDS_MS = 500;

interface Event {
  readonly method?: unknown;
  readonly params?: Readonly<Record<string, unknown>> | null;
}

interface Program {
  readonly child: ChildHandle;
  isReady: boolean;
  /** When it said anything last; undefined where it does not promise to answer heartbeats. */
  ackedMs: number | undefined;
  signIn: SignIn | undefined;
}

/** How far a sign-in by QR code is, as the program says it. */
export interface SignIn {
  /** Another one for each start of the program. */
  readonly session: string;
  readonly status: string;
  /** What the code says, or its picture. */
  readonly code?: string | undefined;
  readonly message?: string | undefined;
}

/** Those that run in this daemon, by channel. */
const programs = new Map<string, Program>();

const say = (program: Pick<Program, 'child'>, method: string, params?: object): Promise<void> =>
  program.child.stdin.write(`${JSON.stringify(params === undefined ? { method } : { method, params })}\n`);

const FIX_HUNG = 'svc starts it again. See in its own log what it waits for.';

/** Rejects where the program does not read. */
const sayInTime = async ({ clock }: Pick<Connection, 'clock'>, program: Pick<Program, 'child'>, method: string, params?: object): Promise<void> => {
  const over = new AbortController();
  const late = clock.sleep(READ_MS, over.signal).then(() => {
    // Some of it may have reached the program.
    throw new ChannelFault(`the program has read nothing for ${READ_MS / 1_000} s`, FIX_HUNG, 'unknown');
  });
  try {
    await Promise.race([say(program, method, params), late]);
  } finally {
    over.abort();
  }
};

const started = async (connection: Connection): Promise<Program> => {
  const { account, secrets } = connection;
  const { sidecar: entry } = account;
  if (!entry) throw new ChannelFault('its entry is not in config.toml any more', 'Add it under [[sidecar_channels]], or remove the channel.');
  const prefix = envSecret(account.name, '');
  const plain = entry.env ?? {};
  const stored = (await secrets.list(prefix)).filter((name) => plain[name.slice(prefix.length)] === undefined);
  const secretEnv = Object.fromEntries(stored.map((secret) => [secret.slice(prefix.length), { secret }]));
  const { path } = connection.files.data;
  await connection.files.data.write('sidecars/README', 'Programs of [[sidecar_channels]] start in this folder.\n');
  const child = await connection.spawn(entry.command, entry.args ?? [], {
    cwd: `${path}/sidecars`,
    env: plain,
    secretEnv,
    signal: connection.signal,
    ownerKey: `channel:${account.name}`,
    isUnconfined: true,
  });
  return { child, isReady: false, ackedMs: undefined, signIn: undefined };
};

const textOf = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : typeof value === 'number' ? String(value) : undefined);

const incomingOf = (connection: Connection, params: Readonly<Record<string, unknown>>): Incoming | undefined => {
  const sender = textOf(params.user_id);
  const content = params.content as { readonly Text?: unknown; readonly Command?: { readonly name?: unknown; readonly args?: readonly unknown[] } } | undefined;
  const command = content?.Command === undefined ? undefined : `/${[content.Command.name, ...(content.Command.args ?? [])].join(' ')}`;
  const text = command ?? textOf(content?.Text) ?? textOf(params.text);
  if (sender === undefined || text === undefined) return undefined;
  const thread = textOf(params.thread_id);
  const name = textOf(params.user_name);
  return {
    id: textOf(params.message_id) ?? connection.ids.uuid(),
    chat: textOf(params.channel_id) ?? sender,
    sender,
    text,
    ...(thread === undefined ? {} : { thread }),
    ...(name === undefined ? {} : { senderName: name }),
    isGroup: params.is_group === true,
    isMentioned: params.is_group !== true || (params.metadata as { was_mentioned?: unknown } | undefined)?.was_mentioned === true || text.startsWith('/'),
    facts: { user: sender, ...(name === undefined ? {} : { name }) },
  };
};

const handled = async (connection: Connection, program: Program, { method, params }: Event): Promise<void> => {
  const given = params ?? {};
  connection.alive();
  if (program.ackedMs !== undefined) program.ackedMs = connection.clock.now();
  if (method === 'ready') {
    program.isReady = true;
    if (Array.isArray(given.capabilities) && given.capabilities.includes('heartbeat')) program.ackedMs = connection.clock.now();
    await sayInTime(connection, program, 'ready_ack');
  } else if (method === 'message') {
    const message = incomingOf(connection, given);
    if (message) await connection.receive(message);
  } else if (method === 'error') connection.log.warn('A sidecar reports an error.', { channel: connection.account.name, why: String(given.message ?? '').slice(0, MAX_SAID) });
  else if (method === 'qr_ready' || method === 'qr_status') program.signIn = signInWith(program.signIn ?? { session: connection.ids.uuid(), status: 'pending' }, given);
};

const signInWith = ({ session, ...before }: SignIn, { status, qr_code: code, message }: Readonly<Record<string, unknown>>): SignIn => ({
  session,
  status: textOf(status) ?? (code === undefined ? before.status : 'pending'),
  code: textOf(code) ?? before.code,
  message: textOf(message)?.slice(0, MAX_SAID),
});

interface LastWords {
  text(): string;
  /** When standard error has ended; a program that it started may keep that open. */
  readonly ended: Promise<void>;
}

/** The last it wrote on standard error. */
const lastWords = (child: ChildHandle): LastWords => {
  let said = '';
  const ended = (async () => {
    for await (const piece of child.stderr) said = `${said}${Buffer.from(piece).toString('utf8')}`.slice(-MAX_SAID);
  })().catch(() => undefined); // it ends with the child
  return { text: () => said.trim().split('\n').at(-1) ?? '', ended };
};

export const signInOf = (name: string): SignIn | undefined => programs.get(name)?.signIn;

export const sidecar: Adapter = {
  id: 'sidecar',
  maxLength: 4_000,
  isKeyed: false,
  namesSenders: true,
  dmPolicy: 'allowed_only',
  description: 'A platform that a program of yours connects.',
  difficulty: 'Hard',
  setupTime: '~15 min',
  steps: ['Add the program under [[sidecar_channels]] in config.toml.', 'Store the values that it needs, such as a token.'],
  origins: () => [],
  connect: async (connection) => {
    const { account, signal, clock } = connection;
    const program = await started(connection);
    const { child } = program;
    const words = lastWords(child);
    programs.set(account.name, program);
    const over = new AbortController();
    const beats = async (): Promise<void> => {
      await clock.sleep((account.sidecar?.ready_timeout_secs ?? READY_SECS) * 1_000, over.signal);
      if (!program.isReady) throw new ChannelFault('the program did not say that it is ready', 'Check that it speaks the protocol of sidecars on its standard output.');
      for (;;) {
        await clock.sleep(BEAT_MS, over.signal);
        if (program.ackedMs !== undefined && clock.now() - program.ackedMs > ACK_MS) throw new ChannelFault(`the program has not answered for ${ACK_MS / 1_000} s`, FIX_HUNG);
        await sayInTime(connection, program, 'heartbeat');
        if (program.ackedMs === undefined) connection.alive();
      }
    };
    const listening = async (): Promise<void> => {
      for await (const line of jsonLines(child.stdout, MAX_LINE)) {
        if (typeof line === 'object' && line !== null) await handled(connection, program, line as Event);
        else connection.log.debug('A sidecar wrote a line that is no event.', { channel: account.name });
      }
      const { exitCode } = await child.exit;
      await Promise.race([words.ended, clock.sleep(WORDS_MS, over.signal)]).catch(() => undefined); // without words then
      const said = words.text();
      throw new ChannelFault(`the program ended${exitCode === null ? '' : ` with ${exitCode}`}${said === '' ? '' : `: ${said}`}`, 'svc starts it again. See what it wrote in the log of the daemon.');
    };
    const beating = beats();
    beating.catch(() => undefined);
    try {
      await Promise.race([listening(), beating]);
    } finally {
      over.abort();
      programs.delete(account.name);
      if (signal.aborted) await say(program, 'shutdown').catch(() => undefined); // it may have ended
      await child.kill();
    }
  },
  send: async (connection, { chat, thread, text, facts }) => {
    const program = programs.get(connection.account.name);
    if (!program?.isReady) throw new ChannelFault('its program does not run in this daemon', 'svc starts it; `svc channels show` says how it is.');
    await sayInTime(connection, program, 'send', {
      channel_id: chat,
      text,
      ...(thread === undefined ? {} : { thread_id: thread }),
      user: { platform_id: facts.user ?? chat, display_name: facts.name ?? '', svc_user: null },
    });
    return undefined;
  },
  check: async ({ account }) => {
    if (!programs.get(account.name)?.isReady) throw new ChannelFault('its program is not ready', 'Look at its state and its last error with `svc channels show`.');
    return 'The program runs and is ready.';
  },
};
