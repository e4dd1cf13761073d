/**
 * The daemon's own log as it is written, for whoever may administer it.
 *
 * Each line is one frame of a topic of this process, numbered like the line: so a reload of this area goes on where the
 * last generation stopped, and a client that comes back with Last-Event-ID misses nothing that is still kept.
 */
import {
  defineFrames,
  defineStreamProjection,
  type Disposable,
  follow,
  type KernelView,
  type LoggedLine,
  Nullable,
  OneOf,
  type Plain,
  type RouteDecl,
  routeGroup,
  sse,
  type Streams,
  type Timers,
  Type,
} from '@svc/api';

const LEVELS = ['trace', 'debug', 'info', 'warn', 'error'] as const;
const BACKFILL = 200;
const MAX_BACKFILL = 1_000;
/** Lines that are written while one is published wait; more than this at once are left out. */
const MAX_PENDING = 1_000;

const Line = Type.Object(
  {
    seq: Type.Integer({ description: 'Grows by one with each line of this process' }),
    timestamp: Type.String({ format: 'date-time' }),
    level: OneOf(LEVELS),
    target: Type.String({ description: 'The area that speaks' }),
    message: Type.String(),
    agent_id: Nullable(Type.String()),
    request_id: Nullable(Type.String({ description: 'As the header x-request-id of the answer had it' })),
    action: Type.String({ description: 'The same as target' }),
    detail: Type.String({ description: 'The same as message' }),
    outcome: OneOf(['ok', 'error']),
    fields: Type.Record(Type.String(), Type.Unknown(), { description: 'Other fields of the line, by name. Secrets are removed' }),
  },
  { 'x-name': 'DaemonLogLine' },
);

const LogFrames = defineFrames('system.log', '1.0.0', { frames: { line: Line }, final: [] });
const Wanted = Type.Object({ level: OneOf(LEVELS), filter: Type.String(), agentId: Type.Optional(Type.String()) });
const LogSse = defineStreamProjection('system.log-sse', '1.0.0', { format: LogFrames, contentType: 'text/event-stream', args: Wanted });

export interface LogStreamDeps {
  readonly kernel: Pick<KernelView, 'log' | 'facts' | 'startedAt'>;
  readonly streams: Streams;
  readonly timers: Pick<Timers, 'after'>;
  readonly onDispose: (label: string, fn: () => void) => void;
}

export const createLogRoute = (deps: LogStreamDeps): RouteDecl => {
  let publishing: Disposable | undefined;
  deps.onDispose('publishing of log lines', () => publishing?.dispose());
  deps.streams.project(LogSse, { encode: ({ id, data }, wanted) => (isWanted(data, wanted) ? sse(undefined, data, id) : undefined) });
  const begin = (): void => {
    publishing ??= publish(deps, topicOf(deps));
  };
  deps.timers.after('go-on-with-the-log', 0, () => {
    // Somebody may follow since an earlier generation.
    if (deps.streams.here(topicOf(deps))) begin();
  });
  return routeGroup({ area: 'system' })({
    id: 'streamLogs',
    method: 'GET',
    path: '/api/logs/stream',
    summary: 'Stream the daemon log',
    description:
      'Sends the newest lines first (`lines`, default 200), then every new line. `level` selects lines of that level and above, `filter` lines with a text, `agent_id` lines about one agent; all apply to the first lines too. ' +
      'A client that sends Last-Event-ID continues after that line. For owners and admins, because the log is about everybody.',
    permission: 'system.admin',
    cost: 5,
    query: Type.Object({
      level: Type.Optional(OneOf(LEVELS, { description: 'By default info; levels below `[log] level` are never written' })),
      filter: Type.Optional(Type.String({ maxLength: 200, description: 'Part of the message or of the area, without case' })),
      agent_id: Type.Optional(Type.String({ format: 'uuid' })),
      lines: Type.Optional(Type.Integer({ minimum: 0, description: `More than ${MAX_BACKFILL} is ${MAX_BACKFILL}` })),
    }),
    responses: { 200: { description: 'An event without a name for each line', contentType: 'text/event-stream', events: { '': Line } } },
    handler: async ({ query, headers }) => {
      begin();
      const topic = topicOf(deps);
      const { level = 'info', filter = '', agent_id: agentId, lines = BACKFILL } = query;
      const newest = deps.streams.here(topic)?.seq ?? 0;
      return follow(
        topic,
        LogSse,
        { level, filter: filter.toLowerCase(), ...(agentId === undefined ? {} : { agentId }) },
        { after: headers['last-event-id'] ?? Math.max(0, newest - Math.min(lines, MAX_BACKFILL)) },
      );
    },
  });
};

/** One for each process: daemons over one database know each other's topics. */
const topicOf = ({ kernel }: LogStreamDeps): string => {
  const { pid, hostname } = kernel.facts();
  return `log-${hostname}-${pid}-${Date.parse(kernel.startedAt)}`;
};

/** From what is kept on; a topic that is open already goes on after its newest line. */
const publish = ({ kernel, streams }: LogStreamDeps, topic: string): Disposable => {
  const kept = kernel.log.recent(MAX_BACKFILL);
  const first = kept[0]?.seq ?? 1;
  streams.open(LogFrames, topic, { attempt: 1, startSeq: first - 1 });
  const pending: LoggedLine[] = kept.filter(({ seq }) => seq > (streams.here(topic)?.seq ?? 0));
  let isBusy = false;
  const drain = (): void => {
    if (isBusy) return;
    isBusy = true;
    try {
      // While one generation takes over from another, both hear each line.
      for (let line = pending.shift(); line; line = pending.shift()) if (line.seq > (streams.here(topic)?.seq ?? 0)) streams.publish(LogFrames, topic, 'line', shown(line));
    } finally {
      isBusy = false;
    }
  };
  drain();
  return kernel.log.follow((line) => {
    if (pending.length < MAX_PENDING) pending.push(line);
    drain();
  });
};

const textOrNull = (value: unknown): string | null => (typeof value === 'string' ? value : null);

const shown = ({ seq, timestamp, level, target, message, request_id, fields }: LoggedLine): Plain<typeof Line> => ({
  seq,
  timestamp,
  level,
  target,
  message,
  agent_id: textOrNull(fields.agentId ?? fields.agent_id ?? fields.agent),
  request_id: request_id ?? null,
  action: target,
  detail: message,
  outcome: level === 'error' ? 'error' : 'ok',
  fields,
});

const isWanted = (line: Plain<typeof Line>, { level, filter, agentId }: Plain<typeof Wanted>): boolean =>
  LEVELS.indexOf(line.level) >= LEVELS.indexOf(level) &&
  (agentId === undefined || line.agent_id === agentId) &&
  (filter === '' || line.message.toLowerCase().includes(filter) || line.target.toLowerCase().includes(filter));
