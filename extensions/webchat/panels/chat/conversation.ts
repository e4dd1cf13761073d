/**
 * One conversation: what the daemon keeps of it, and the runs that go on in it.
 *
 * C1  What happened is what the daemon says; this tab remembers only what it has not heard back yet.
 * C2  A message is sent once, however often the connection breaks: each attempt has the same key. A message that the daemon
 *     did not take goes back to where it was typed.
 * C3  Whoever looks at the conversation sees its run, whichever tab, device or program began it.
 * C4  However fast it writes, the page draws once a frame.
 * C5  What is answered beside the conversation (a slash command, a question by /btw) is kept by nobody: it stays here until the page goes.
 * C6  One run is not hidden by another: what is followed stays while the next message is sent.
 */
import { AbortedError, batch, ConnectionError, daemon, failed, may, signal, SvcError, onRefused, streamMessage } from '@svc/kit';
import { type Beside, besideOf, carryTo, carriedTo } from './besides.js';
import { createFollower } from './following.js';
import { createLiveRuns } from './live-runs.js';
import { linesBefore } from './versions.js';
import { after, GOING_ON, type History, type LiveRun, newLiveRun, type Question, type RunEvent, type SessionRun } from './live-run.js';

/** What is known of the conversation that is open, for what stands around it. */
export interface Opened {
  readonly sessionId: string;
  /** Undefined where it has no other version. */
  readonly conversationId: string | undefined;
  /** As somebody or a model named it, else how it began. */
  readonly title: string | undefined;
  readonly label: string | null;
  readonly isArchived: boolean;
  readonly tags: readonly string[];
}

/** What of a conversation its actions need. */
export interface Named {
  readonly id: string;
  readonly agentId: string;
  readonly name: string;
  /** As a person gave it. */
  readonly label: string | null;
  readonly isArchived: boolean;
  readonly tags: readonly string[];
}

export const opened = signal<Opened | undefined>(undefined);

const openedOf = ({ session_id, conversation_id, title, label, is_archived, tags }: History): Opened => ({
  sessionId: session_id,
  conversationId: conversation_id ?? undefined,
  title: title ?? undefined,
  label,
  isArchived: is_archived,
  tags,
});

export interface Conversation {
  readonly agentId: string;
  readonly sessionId: string;
  readonly history: { readonly value: History | undefined };
  readonly runs: { readonly value: readonly SessionRun[] };
  /** Runs of the versions that it has copied entries of. */
  readonly copiedRuns: { readonly value: readonly SessionRun[] };
  readonly lives: { readonly value: readonly LiveRun[] };
  readonly besides: { readonly value: readonly Beside[] };
  readonly error: { readonly value: unknown };
  /** Resolves when it is over; rejects with the refusal when it was not taken. */
  send(question: Question): Promise<void>;
  stop(): Promise<void>;
  /** Something changed in it, or might have. */
  refresh(): Promise<void>;
  /** A person rated an answer of this session: it may have been copied from there. */
  rated(sessionId: string): Promise<void>;
  close(): void;
}

/** Before the daemon is asked again that could not be reached. */
const AGAIN_MS = 1_000;
/** So many of the newest say how they went; before that, what was said is shown alone. */
const SHOWN_RUNS = 100;

const read = (agentId: string, sessionId: string, stop: AbortSignal) =>
  Promise.all([daemon.call('getSession', { id: agentId, session_id: sessionId }, { signal: stop }), daemon.call('listSessionRuns', { id: sessionId, limit: SHOWN_RUNS }, { signal: stop })]);

interface Sent {
  readonly agentId: string;
  readonly sessionId: string;
  /** C2 */
  readonly id: string;
  readonly question: Question;
}

const sent = ({ agentId, sessionId, id, question: { text, attachments } }: Sent, options: { signal: AbortSignal; onConnection: (state: string) => void }) =>
  streamMessage(
    daemon,
    agentId,
    { message: text, session_id: sessionId, ...(attachments.length > 0 ? { attachments: attachments.map(({ file_id, filename }) => ({ file_id, filename })) } : {}) },
    { idempotencyKey: id, ...options },
  );

/** After the first answer. Without a title the conversation shows how it began. */
const askForTitle = async (known: History | undefined): Promise<void> => {
  if (!known || known.label !== null || known.is_titled || !may('sessions.write')) return;
  await daemon.call('titleSession', { id: known.session_id }).catch(() => undefined);
};

interface Stops {
  /** The runs of this conversation: what the agent does in another one goes on. */
  stop(runs: readonly SessionRun[], lives: readonly LiveRun[]): Promise<void>;
  /** One that was stopped before the daemon had named it is stopped as soon as that is heard. */
  received(live: LiveRun | undefined): void;
}

const createStops = (): Stops => {
  const unnamed = new Set<string>();
  return {
    stop: async (runs, lives) => {
      const going = lives.filter(({ phase }) => phase !== 'over');
      for (const { id, runId } of going) if (runId === undefined) unnamed.add(id);
      const ids = new Set([...runs.flatMap(({ status, run_id }) => (GOING_ON.includes(status) ? [run_id] : [])), ...going.flatMap(({ runId }) => runId ?? [])]);
      // The newest first: when the one that runs has ended, the next in the queue begins. Ids are in the order of their time.
      for (const id of [...ids].sort().reverse()) await daemon.call('stopRun', { id });
    },
    received: (live) => {
      if (live?.runId === undefined || !unnamed.delete(live.id)) return;
      daemon.call('stopRun', { id: live.runId }).catch(failed);
    },
  };
};

/** Of the sessions that this one has copied entries of. What was copied has ended, so it is asked for once. */
const createCopiedRuns = (stop: AbortSignal) => {
  const runs = signal<readonly SessionRun[]>([]);
  const known = new Set<string>();
  return {
    runs,
    /** `again`: those of this session have another rating. */
    load: async (sessionIds: readonly string[], again?: string): Promise<void> => {
      const ids = sessionIds.filter((id) => !known.has(id) || id === again);
      if (ids.length === 0) return;
      const lists = await Promise.all(ids.map((id) => daemon.call('listSessionRuns', { id, limit: SHOWN_RUNS }, { signal: stop })));
      for (const id of ids) known.add(id);
      const read = lists.flatMap((list) => list.runs);
      const fresh = new Set(read.map(({ run_id }) => run_id));
      runs.value = [...runs.peek().filter(({ run_id }) => !fresh.has(run_id)), ...read];
    },
  };
};

const isKept = (history: History | undefined, runId: string | undefined): boolean => history?.messages.some(({ run_id }) => run_id === runId) === true;

/** Of a message that the conversation does not keep: it was stopped before anything began, and whoever typed it shall have it back. */
const refusalOf = ({ failure }: LiveRun): Error => (failure && failure.code !== 'run_stopped' ? new Error(failure.error) : new AbortedError('The message', failure?.error));

/** Without a network, what is stored is read as soon as there is one again. */
const untilReached = async (refresh: () => Promise<void>, isAway: () => boolean): Promise<void> => {
  await refresh();
  while (isAway()) {
    await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
    await refresh();
  }
};

/** `onMoved`: a command ended this conversation or began another one, which is gone on with. */
export const openConversation = (agentId: string, sessionId: string, onMoved: (sessionId: string) => void): Conversation => {
  const history = signal<History | undefined>(undefined);
  const runs = signal<readonly SessionRun[]>([]);
  const lives = createLiveRuns();
  const besides = signal<readonly Beside[]>(carriedTo(sessionId));
  const error = signal<unknown>(undefined);
  const stops = createStops();
  const own = new AbortController();
  const copied = createCopiedRuns(own.signal);
  let refreshing: Promise<void> | undefined;
  let again = false;

  const load = async (): Promise<void> => {
    const [known, ran] = await read(agentId, sessionId, own.signal);
    batch(() => {
      history.value = known;
      opened.value = openedOf(known);
      runs.value = ran.runs;
      error.value = undefined;
    });
    followOthers(runs.peek());
    await copied.load(linesBefore(known.versions, sessionId));
  };

  /** One at a time, and once more where somebody asked meanwhile. */
  const refresh = (): Promise<void> => {
    again = true;
    refreshing ??= (async () => {
      let askForKey = onRefused();
      try {
        while (again && !own.signal.aborted) {
          again = false;
          askForKey = onRefused();
          await load();
        }
      } catch (cause) {
        if (cause instanceof AbortedError) return;
        if (cause instanceof SvcError && cause.status === 401) askForKey();
        error.value = cause;
      } finally {
        refreshing = undefined;
      }
    })();
    return refreshing;
  };

  const follow = async (id: string, events: AsyncIterable<RunEvent>): Promise<void> => {
    for await (const event of events) {
      lives.change(id, (live) => after(live, event, performance.now()));
      stops.received(lives.now(id));
    }
    lives.draw();
  };

  const followOthers = createFollower({ agentId, sessionId, lives, signal: own.signal, received: stops.received, refreshed: async () => refresh().then(() => runs.peek()) });

  /** What was sent from here is over: from now on what is kept tells it, and what nobody keeps stays here. */
  const settle = async (id: string): Promise<void> => {
    const over = lives.now(id);
    const beside = over && besideOf(over, history.peek()?.messages.at(-1)?.seq ?? 0);
    const moved = over?.command === undefined ? undefined : over.result?.session_id;
    if (beside && moved !== undefined && moved !== sessionId) {
      carryTo(moved, [beside]);
      lives.drop(id);
      onMoved(moved);
      return;
    }
    await untilReached(refresh, () => error.peek() instanceof ConnectionError && !own.signal.aborted);
    const isAnswered = over?.result !== undefined && over.result.finish !== 'cancelled';

    const isLost = history.peek() !== undefined && !isKept(history.peek(), over?.runId);
    if (isAnswered && over.command === undefined && !isLost) void askForTitle(history.peek());
    batch(() => {
      if (beside && isAnswered && (over.command !== undefined || isLost)) besides.value = [...besides.peek(), beside];
      lives.drop(id);
    });
    if (over && !isAnswered && isLost && !own.signal.aborted) throw refusalOf(over);
  };

  return {
    agentId,
    sessionId,
    history,
    runs,
    copiedRuns: copied.runs,
    lives: lives.all,
    besides,
    error,
    refresh,
    rated: (id) =>
      id === sessionId
        ? refresh()
        : copied.load(
            linesBefore(history.peek()?.versions, sessionId).filter((one) => one === id),
            id,
          ),
    send: async (question) => {
      const live = newLiveRun(newId(), question);
      lives.add(live);
      const onConnection = (state: string): void => lives.change(live.id, (now) => ({ ...now, phase: state === 'lost' ? 'lost' : 'thinking' }));
      try {
        await follow(live.id, sent({ agentId, sessionId, id: live.id, question }, { signal: own.signal, onConnection }));
      } catch (cause) {
        if (own.signal.aborted) return;
        const wasTaken = lives.now(live.id)?.runId !== undefined;
        await refresh();
        lives.drop(live.id);
        if (!wasTaken) throw cause;
        return failed(cause);
      }
      await settle(live.id);
    },
    stop: () => stops.stop(runs.peek(), lives.all.peek()),
    close: () => {
      if (opened.peek()?.sessionId === sessionId) opened.value = undefined;
      own.abort();
      lives.close();
    },
  };
};

export const newId = (): string => `page-${Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('')}`;
