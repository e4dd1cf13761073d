/** Who writes a topic: opening, taking over, letting go, and what is said in it. */
import type { FramesDecl } from '@svc/api';
import { type TopicHere, type TopicOptions, type TopicState, declaredAs } from '@svc/api/internal';
import { placeOf } from './cursor.js';
import { streamErrors } from './errors.js';
import { drop, end, find, type KnownTopics, sweep, unend } from './known-topics.js';
import { type FrameDraft, Topic } from './topic.js';

export const stateOf = ({ attempt, seq, final }: Topic): TopicState => ({ attempt, seq, ended: final !== undefined });

export const hereOf = (topic: Topic | undefined): TopicHere | undefined => topic && { ...stateOf(topic), own: topic.isOwn, token: topic.token, unwatchedMs: topic.unwatchedMs };

/** Refuses whoever may not; false where nobody may here any more, because another process writes it. */
export const mayWrite = (topic: Topic, by: string | undefined): boolean => {
  if (by !== undefined && !topic.writers.has(by)) throw streamErrors.not_writer(by, topic.name);
  return topic.isOwn;
};

/** A topic has one format from its beginning to its end. */
export const inFormat = (topic: Topic | undefined, format: FramesDecl, type = 'any'): void => {
  if (topic && topic.format !== format && declaredAs(topic.format) !== declaredAs(format)) throw streamErrors.wrong_format(topic.name, type, declaredAs(format), declaredAs(topic.format));
};

export function open(state: KnownTopics, format: FramesDecl, name: string, options: TopicOptions, by: string | undefined): void {
  sweep(state);
  const { attempt = 1, startSeq = 0, reached, token } = options;
  const known = state.topics.get(name);
  inFormat(known, format);
  if (known && by !== undefined && known.owner !== undefined && known.owner !== by) throw streamErrors.not_writer(by, name);
  // Whoever lost its lease knows less than the one who has it.
  if (known?.token !== undefined && token !== undefined && token < known.token) return;
  const topic = known ?? place(state, format, name, attempt, startSeq);
  const wasOwn = topic.isOwn;
  topic.isOwn = true;
  topic.token = token;
  topic.owner = by;
  topic.writers = new Set([...(by === undefined ? [] : [by]), ...(options.writers ?? [])]);
  // The same attempt opened twice goes on: who opens it again after a reload must not void what readers have.
  const goesOn = topic.attempt === attempt && !topic.final;
  if (!goesOn) {
    state.flusher.forget(topic);
    unend(state, topic);
    topic.restart(attempt, startSeq, reached ?? null);
  }
  // Others can only follow an earlier attempt, or what was followed here.
  if (attempt > 1 || !wasOwn) state.elsewhere.opened(topic);
}

function place(state: KnownTopics, format: FramesDecl, name: string, attempt: number, startSeq: number): Topic {
  sweep(state);
  while (state.topics.size >= state.maxTopics) {
    const oldest = state.ended.values().next().value ?? unread(state);
    if (!oldest) throw streamErrors.too_many(state.maxTopics);
    drop(state, oldest);
  }
  const topic = new Topic(name, format, state.limits, attempt, startSeq, state.clock.mono);
  state.topics.set(name, topic);
  return topic;
}

/** A topic that is written elsewhere and read by nobody here. */
function unread(state: KnownTopics): Topic | undefined {
  for (const topic of state.topics.values()) if (!topic.isOwn && topic.followers.size === 0) return topic;
  return undefined;
}

export function attach(state: KnownTopics, format: FramesDecl, name: string, after: string | undefined, by: string | undefined): void {
  const known = find(state, name);
  inFormat(known, format);
  if (known) return;
  // Attempt 0 holds no frame that anybody has seen: whoever writes the topic has a later one.
  const from = (after === undefined ? undefined : placeOf({ name }, after)) ?? { attempt: 0, seq: 0 };
  const topic = place(state, format, name, from.attempt, from.seq);
  topic.isOwn = false;
  topic.attachedBy = by;
  state.elsewhere.follow(topic);
}

export function letGo(state: KnownTopics, name: string, token: number, by: string | undefined): void {
  const topic = find(state, name);
  if (!topic || !mayWrite(topic, by) || topic.final || topic.token !== token || state.bus.isAlone()) return;
  topic.release();
  state.flusher.forget(topic);
  topic.isOwn = false;
  state.elsewhere.follow(topic);
}

export function publish(state: KnownTopics, format: FramesDecl, name: string, { type, data }: { readonly type: string; readonly data: unknown }, by: string | undefined): void {
  const topic = state.topics.get(name);
  if (!topic) throw streamErrors.not_found(name);
  inFormat(topic, format, type);
  // What the topic was opened with counts: another declaration may go by the same name.
  const { frames, final, joins } = topic.format;
  if (!Object.hasOwn(frames, type)) throw streamErrors.wrong_format(name, type, declaredAs(format), declaredAs(topic.format));
  if (!mayWrite(topic, by) || topic.final) {
    state.lateFrames++;
    return;
  }
  const isFinal = final.includes(type);
  const merge = isFinal ? undefined : joins[type];
  const draft: FrameDraft = { type, data, final: isFinal, merge };
  const text = merge !== undefined && isRecord(data) ? data[merge] : undefined;
  if (merge === undefined || typeof text !== 'string' || !isRecord(data)) {
    topic.release();
    topic.append(draft);
    if (isFinal) end(state, topic);
    return;
  }
  if (state.flusher.joins(topic)) topic.hold(type, merge, text, data);
  else topic.append(draft);
}

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value);
