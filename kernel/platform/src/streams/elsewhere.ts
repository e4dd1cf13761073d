/**
 * Topics that are written in another process than the one that follows them.
 *
 * F1  Whoever follows says each second how far it has come; whoever is ahead answers with the rest. So a lost message,
 *     and a writer that changed, cost a second at most and no frame.
 * F2  The writer sends what is new at once to everybody heard of in the last seconds.
 * F3  Nothing here knows whether a topic ever ends: when its writer is gone, the area that owns it says the end from its rows.
 */
import type { Frame } from '@svc/api';
import type { TopicState } from '@svc/api/internal';
import type { Bus } from '../bus/bus.js';
import { RemoteReader, sendRest } from './remote-reader.js';
import type { Topic } from './topic.js';
import type { TopicSignal } from './topic-signals.js';

const SAY_EVERY_MS = 1_000;
/** A reader that missed so many beats is gone. */
const FORGET_AFTER_MS = 4_000;
/** A topic that nobody follows here any more is kept this long for whoever comes back. */
const KEEP_UNWATCHED_MS = 60_000;
/** A gap is asked for again at most this often. */
const ASK_AGAIN_MS = 50;
const ASK_EVERY_MS = 100;
const ASK_TIMES = 5;

export interface Elsewhere {
  /** The topic is written by somebody else from now on, or may be. */
  follow(topic: Topic): void;
  /** It is written here from now on. */
  opened(topic: Topic): void;
  /** Where others say that a topic stands. */
  ask(topic: string): Promise<TopicState | undefined>;
  close(): void;
}

export interface Known {
  find(name: string): Topic | undefined;
  /** Its final frame has come. */
  ended(topic: Topic): void;
  drop(topic: Topic): void;
}

interface State {
  readonly bus: Bus;
  readonly known: Known;
  /** When each was last asked about. */
  readonly followed: Map<Topic, number>;
  readonly readers: Map<Topic, Map<string, RemoteReader>>;
  readonly asked: Map<string, Set<(state: TopicState) => void>>;
  timer: NodeJS.Timeout | undefined;
}

export const createElsewhere = (bus: Bus, known: Known): Elsewhere => {
  const state: State = { bus, known, followed: new Map(), readers: new Map(), asked: new Map(), timer: undefined };
  const listening = bus.subscribe('streams', (signal) => receive(state, signal));
  return {
    follow: (topic) => {
      forgetReaders(state, topic);
      say(state, topic);
      tickOn(state);
    },
    opened: (topic) => {
      state.followed.delete(topic);
      bus.publish('streams', { is: 'opened', topic: topic.name, attempt: topic.attempt });
    },
    ask: (name) => ask(state, name),
    close: () => {
      clearInterval(state.timer);
      listening.dispose();
    },
  };
};

function receive(state: State, signal: TopicSignal): void {
  const { bus, known } = state;
  if ('to' in signal && signal.to !== bus.name) return;
  const topic = known.find(signal.topic);
  switch (signal.is) {
    case 'follow':
      if (topic) answer(state, topic, signal);
      return;
    case 'leave':
      if (topic) forgetReader(state, topic, signal.by);
      return;
    case 'frames':
      if (topic) take(state, topic, signal);
      return;
    case 'opened':
      if (topic && !topic.isOwn && !topic.final && signal.attempt > topic.attempt) say(state, topic);
      return;
    case 'ask':
      if (topic && topic.seq > 0) bus.publish('streams', { is: 'stands', topic: topic.name, to: signal.by, attempt: topic.attempt, seq: topic.seq, ended: topic.final !== undefined });
      return;
    case 'stands':
      for (const resolve of state.asked.get(signal.topic) ?? []) resolve({ attempt: signal.attempt, seq: signal.seq, ended: signal.ended });
  }
}

function answer(state: State, topic: Topic, follower: Extract<TopicSignal, { is: 'follow' }>): void {
  // Who only follows as well gives what it has, and is no source.
  if (!topic.isOwn) {
    sendRest(state.bus, topic, follower.by, follower);
    return;
  }
  const readers = state.readers.get(topic) ?? new Map<string, RemoteReader>();
  const reader = readers.get(follower.by) ?? new RemoteReader(state.bus, topic, follower.by);
  state.readers.set(topic, readers.set(follower.by, reader));
  topic.join(reader);
  reader.standsAt(follower);
  tickOn(state);
}

function take(state: State, topic: Topic, { attempt, frames, oldest, reached }: Extract<TopicSignal, { is: 'frames' }>): void {
  const [first] = frames;
  if (!first || topic.isOwn || topic.final || attempt < topic.attempt) return;
  if (attempt > topic.attempt || first.seq > topic.seq + 1) {
    // Only what nobody keeps any more may be left out.
    if (first.seq !== oldest) {
      sayAgain(state, topic);
      return;
    }
    topic.restart(attempt, oldest - 1, attempt === topic.attempt ? topic.reached : reached);
  }
  for (const frame of frames) if (frame.seq === topic.seq + 1) topic.take(frame);
  // Told of by `take`, which does not look back once it is set.
  if (newestOf(topic)?.final) state.known.ended(topic);
}

const newestOf = (topic: Topic): Frame | undefined => topic.ringBuffer.at(topic.seq);

function say({ bus, followed }: State, topic: Topic): void {
  followed.set(topic, performance.now());
  bus.publish('streams', { is: 'follow', topic: topic.name, by: bus.name, attempt: topic.attempt, seq: topic.seq });
}

function sayAgain(state: State, topic: Topic): void {
  if (performance.now() - (state.followed.get(topic) ?? 0) >= ASK_AGAIN_MS) say(state, topic);
}

function tickOn(state: State): void {
  // Real time, also where the clock is virtual: this is a matter of the wire, not of the work.
  state.timer ??= setInterval(() => tick(state), SAY_EVERY_MS).unref();
}

function tick(state: State): void {
  for (const topic of state.followed.keys()) {
    if (topic.final || state.known.find(topic.name) !== topic) state.followed.delete(topic);
    else if (topic.followers.size > 0) say(state, topic);
    else leave(state, topic);
  }
  const before = performance.now() - FORGET_AFTER_MS;
  for (const [topic, readers] of state.readers) for (const [by, { receivedAt }] of readers) if (receivedAt < before) forgetReader(state, topic, by);
  if (state.followed.size > 0 || state.readers.size > 0) return;
  clearInterval(state.timer);
  state.timer = undefined;
}

function leave({ bus, followed, known }: State, topic: Topic): void {
  bus.publish('streams', { is: 'leave', topic: topic.name, by: bus.name });
  if ((topic.unwatchedMs ?? 0) < KEEP_UNWATCHED_MS) return;
  followed.delete(topic);
  known.drop(topic);
}

function forgetReader({ readers }: State, topic: Topic, by: string): void {
  const ofTopic = readers.get(topic);
  const reader = ofTopic?.get(by);
  if (!ofTopic || !reader) return;
  topic.leave(reader);
  ofTopic.delete(by);
  if (ofTopic.size === 0) readers.delete(topic);
}

function forgetReaders(state: State, topic: Topic): void {
  for (const by of [...(state.readers.get(topic)?.keys() ?? [])]) forgetReader(state, topic, by);
}

/** Asked several times, because a question can be lost as well as its answer. */
function ask({ asked, bus }: State, topic: string): Promise<TopicState | undefined> {
  if (bus.isAlone()) return Promise.resolve(undefined);
  return new Promise((resolve) => {
    let times = 0;
    const again = (): void => {
      if (times++ === ASK_TIMES) done(undefined);
      else bus.publish('streams', { is: 'ask', topic, by: bus.name });
    };
    const timer = setInterval(again, ASK_EVERY_MS);
    const waiting = asked.get(topic) ?? new Set();
    const done = (found: TopicState | undefined): void => {
      clearInterval(timer);
      waiting.delete(done);
      if (waiting.size === 0) asked.delete(topic);
      resolve(found);
    };
    asked.set(topic, waiting.add(done));
    again();
  });
}
