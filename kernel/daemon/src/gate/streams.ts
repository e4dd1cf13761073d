/** Streams at the gate: frames fit the format they are declared in, and projections are registered under the area that shows them. */
import { type AnswerProjection, type Disposable, type FrameOf, type FramesDecl, type FrameStream, type StreamProjection, type Streams, declaredAs } from '@svc/api';
import { type ContractJudge, ContributionRegistry, type Owner } from '@svc/core';
import { type Projection, answerProjection, streamProjection } from '@svc/platform/streams/projections';
import type { Topics } from '@svc/platform/streams/streams';
import { daemonErrors } from '../errors.js';

export const createProjectionRegistry = (): ContributionRegistry<Projection> =>
  new ContributionRegistry<Projection>('projection', {
    describe: ({ decl }) => declaredAs(decl),
    check: (candidate, others) => {
      const other = others.find(({ value }) => declaredAs(value.decl) === declaredAs(candidate.value.decl));
      if (other) throw new Error(`the projection ${declaredAs(candidate.value.decl)} is already registered by ${other.owner.id}`);
    },
  });

export const streamsGate = (topics: Topics, projections: ContributionRegistry<Projection>, owner: Owner, judge: ContractJudge): Streams => {
  const isJudged = judge.isNeeded(owner);
  const named = (decl: StreamProjection | AnswerProjection): void => {
    if (!decl.name.startsWith(`${owner.id}.`)) throw daemonErrors.foreign_name(owner.id, decl.name);
  };
  const register = (projection: Projection): Disposable => projections.add(owner, projection);
  return {
    open: (format, topic, options) => topics.open(format, topic, options),
    publish: (format, topic, type, data) => {
      const schema = format.frames[type];
      if (isJudged && schema) judge.check(schema, data, `A frame ${type} of ${declaredAs(format)}, published by ${owner.id}`);
      topics.publish(format, topic, type, data);
    },
    flush: (topic) => topics.flush(topic),
    letGo: (topic, token) => topics.letGo(topic, token),
    here: (topic) => topics.here(topic),
    state: (topic) => topics.state(topic),
    attach: (format, topic, after) => topics.attach(format, topic, after),
    watched: () => topics.watched(),
    // Frames of a topic were published in its format, and to that they were held.
    follow: <D extends FramesDecl>(format: D, topic: string, after?: string | number) => topics.follow(format, topic, after) as FrameStream<FrameOf<D>>,
    final: <D extends FramesDecl>(format: D, topic: string, signal?: AbortSignal) => topics.final(format, topic, signal) as Promise<FrameOf<D>>,
    project: (decl, code) => {
      named(decl);
      return register(streamProjection(decl, code));
    },
    answer: (decl, code) => {
      named(decl);
      return register(answerProjection(decl, code));
    },
  };
};
