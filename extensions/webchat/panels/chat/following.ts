/** A run that nobody in this tab began, followed from its beginning until what the daemon keeps tells all of it. */
import { daemon, followSession, mustLogIn } from '@svc/kit';
import { after, caughtUp, GOING_ON, type LiveRun, newLiveRun, type SessionRun } from './live-run.js';
import type { LiveRuns } from './live-runs.js';

/** Before the daemon is asked again about a run of which nothing more is heard. */
const AGAIN_MS = 500;

interface Followed {
  readonly agentId: string;
  readonly sessionId: string;
  readonly lives: LiveRuns;
  /** Ends it. */
  readonly signal: AbortSignal;
  received(live: LiveRun | undefined): void;
  /** The runs of the conversation, once all that is kept was read again. */
  refreshed(): Promise<readonly SessionRun[]>;
}

const isGoingOn = (runs: readonly SessionRun[], runId: string | undefined): boolean => runs.some(({ status, run_id }) => run_id === runId && GOING_ON.includes(status));

/** Whether one goes on and none is watched here: they answer one after the other. One whose end was heard may not be written down yet. */
const isToFollow = (runs: readonly SessionRun[], watched: readonly LiveRun[]): boolean =>
  !watched.some(({ phase, runId }) => phase !== 'over' && runId === undefined) && runs.some(({ status, run_id }) => GOING_ON.includes(status) && !watched.some(({ runId }) => runId === run_id));

/** Takes the runs as they are by now, and follows the one that goes on unless it is watched already. */
export const createFollower = ({ agentId, sessionId, lives, signal, received, refreshed }: Followed): ((runs: readonly SessionRun[]) => void) => {
  let isFollowing = false;

  const listen = async (live: LiveRun): Promise<void> => {
    let said = live;
    for await (const event of followSession(daemon, agentId, sessionId, { signal })) {
      said = after(said, event, performance.now());
      lives.change(live.id, (shown) => caughtUp(shown, said));
      received(lives.now(live.id));
    }
    lives.draw();
  };

  /** Gives the runs as they are when it is over. */
  const follow = async (live: LiveRun): Promise<readonly SessionRun[]> => {
    for (;;) {
      // Over before it could be followed, or the daemon is gone: what is kept says more.
      if (lives.now(live.id)?.phase !== 'over') await listen(live).catch(() => undefined);
      const runs = await refreshed();
      if (signal.aborted || mustLogIn.peek() || !isGoingOn(runs, lives.now(live.id)?.runId)) return runs;
      // The connection broke, or the end was heard before it was written down.
      await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
    }
  };

  const followOthers = (runs: readonly SessionRun[]): void => {
    if (isFollowing || signal.aborted || !isToFollow(runs, lives.all.peek())) return;
    isFollowing = true;
    const live = newLiveRun(`followed ${performance.now()}`);
    lives.add(live);
    void follow(live).then((now) => {
      const wasReceived = lives.now(live.id)?.runId !== undefined;
      isFollowing = false;
      lives.drop(live.id);
      if (wasReceived) followOthers(now);
    });
  };
  return followOthers;
};
