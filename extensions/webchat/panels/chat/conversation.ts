/**
 * One conversation: what the daemon keeps of it, and the runs that go on in it.
 *
 * C1  What happened is what the daemon says; this tab remembers only what it has not heard back yet.
 * C2  A message is sent once, however often the connection breaks: each attempt has the same key. A message that the daemon
 *     did not take goes back to where it was typed.
 * C3  Whoever looks at the conversation sees its run, whichever tab, device or program began it.
 * C4  However fast it writes, the page draws once a frame.
 */
import { AbortedError, batch, daemon, failed, type OutputOf, signal, SvcError, mustLogIn } from '@svc/kit';
import { followSession, streamMessage } from '@svc/client/stream';
import { createLiveRuns } from './live-runs.js';
import { after, type History, type LiveRun, newLiveRun, type Question, type RunEvent } from './live-run.js';

export type SessionRun = OutputOf<'listSessionRuns'>['runs'][number];

export interface Conversation {
  readonly agentId: string;
  readonly sessionId: string;
  readonly history: { readonly value: History | undefined };
  readonly runs: { readonly value: readonly SessionRun[] };
  readonly lives: { readonly value: readonly LiveRun[] };
  readonly error: { readonly value: unknown };
  /** Resolves when it is over; rejects with the refusal when it was not taken. */
  send(question: Question): Promise<void>;
  stop(): Promise<void>;
  /** Something changed in it, or might have. */
  refresh(): Promise<void>;
  close(): void;
}

/** So many of the newest say how they went; before that, what was said is shown alone. */
const SHOWN_RUNS = 100;
/** Of a run that is not over. */
export const GOING_ON: readonly string[] = ['queued', 'running', 'waiting'];

export const openConversation = (agentId: string, sessionId: string): Conversation => {
  const history = signal<History | undefined>(undefined);
  const runs = signal<readonly SessionRun[]>([]);
  const lives = createLiveRuns();
  const error = signal<unknown>(undefined);
  const own = new AbortController();
  let following: AbortController | undefined;
  let refreshing: Promise<void> | undefined;
  let again = false;

  const load = async (): Promise<void> => {
    const [known, ran] = await Promise.all([
      daemon.call('getSession', { id: agentId, session_id: sessionId }, { signal: own.signal }),
      daemon.call('listSessionRuns', { id: sessionId, limit: SHOWN_RUNS }, { signal: own.signal }),
    ]);
    batch(() => {
      history.value = known;
      runs.value = ran.runs;
      error.value = undefined;
    });
    followOthers();
  };

  /** One at a time, and once more where somebody asked meanwhile. */
  const refresh = (): Promise<void> => {
    again = true;
    refreshing ??= (async () => {
      try {
        while (again && !own.signal.aborted) {
          again = false;
          await load();
        }
      } catch (cause) {
        if (cause instanceof AbortedError) return;
        if (cause instanceof SvcError && cause.status === 401) mustLogIn.value = true;
        error.value = cause;
      } finally {
        refreshing = undefined;
      }
    })();
    return refreshing;
  };

  const follow = async (id: string, events: AsyncIterable<RunEvent>): Promise<void> => {
    for await (const event of events) lives.change(id, (live) => after(live, event, performance.now()));
    lives.draw();
  };

  /** A run that nobody here began is followed from its beginning. */
  const followOthers = (): void => {
    const watched = lives.all.peek();
    const isOurs = watched.some((live) => live.phase !== 'over');
    // One whose end was heard here may not be written down yet.
    const goesOn = runs.peek().some(({ status, run_id }) => GOING_ON.includes(status) && !watched.some(({ runId }) => runId === run_id));
    if (following || isOurs || own.signal.aborted || !goesOn) return;
    const mine = new AbortController();
    following = mine;
    const live = newLiveRun(`followed ${performance.now()}`);
    lives.add(live);
    follow(live.id, followSession(daemon, agentId, sessionId, { signal: AbortSignal.any([own.signal, mine.signal]) }))
      // Over before it could be followed, or the daemon is gone: either way what is kept says more.
      .catch(() => undefined)
      .finally(async () => {
        following = undefined;
        if (own.signal.aborted) return;
        await refresh();
        lives.drop(live.id);
      });
  };

  return {
    agentId,
    sessionId,
    history,
    runs,
    lives: lives.all,
    error,
    refresh,
    send: async (question) => {
      const live = newLiveRun(newId(), question);
      // What it says comes in this run's own stream.
      if (following) {
        following.abort();
        following = undefined;
      }
      lives.dropFollowed();
      lives.add(live);
      const events = streamMessage(
        daemon,
        agentId,
        { message: question.text, session_id: sessionId, ...(question.attachments.length > 0 ? { attachments: question.attachments.map(({ file_id, filename }) => ({ file_id, filename })) } : {}) },
        {
          idempotencyKey: live.id,
          signal: own.signal,
          onConnection: (state) => lives.change(live.id, (now) => ({ ...now, phase: state === 'lost' ? 'lost' : 'thinking' })),
        },
      );
      try {
        await follow(live.id, events);
      } catch (cause) {
        if (own.signal.aborted) return;
        const wasTaken = lives.now(live.id)?.runId !== undefined;
        await refresh();
        lives.drop(live.id);
        if (!wasTaken) throw cause;
        failed(cause);
        return;
      }
      await refresh();
      lives.drop(live.id);
    },
    stop: async () => {
      await daemon.call('stopAgent', { id: agentId });
    },
    close: () => {
      own.abort();
      lives.close();
    },
  };
};

const newId = (): string => `page-${Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('')}`;
