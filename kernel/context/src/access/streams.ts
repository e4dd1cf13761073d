/** Streams at the access check: frames fit the format they are declared in, and projections are registered under the area that shows them. */
import type { AnswerProjection, Disposable, FrameOf, FramesDecl, StreamProjection, Streams, Frame } from '@svc/api';
import { type FrameStream, declaredAs, frozen } from '@svc/api/internal';
import { type ContractValidator, ContributionRegistry, type Contributor, plainCopy } from '@svc/core';
import { type Projection, answerProjection, streamProjection } from '@svc/platform/streams/projections';
import type { Topics } from '@svc/platform/streams/streams';
import { contextErrors } from '../errors.js';
import { still } from './grants-policy.js';

export const createProjectionRegistry = (): ContributionRegistry<Projection> =>
  new ContributionRegistry<Projection>('projection', {
    describe: ({ decl }) => declaredAs(decl),
    check: (candidate, others) => {
      const other = others.find(({ value }) => declaredAs(value.decl) === declaredAs(candidate.value.decl));
      if (other) throw new Error(`the projection ${declaredAs(candidate.value.decl)} is already registered by ${other.owner.id}`);
    },
  });

export const streamsAccess = (topics: Topics, projections: ContributionRegistry<Projection>, owner: Contributor, validator: ContractValidator): Streams => {
  const isValidated = validator.isNeeded(owner);
  const isForeign = validator.isForeign(owner);
  const named = <D extends StreamProjection | AnswerProjection>(given: D): D => {
    const decl = still(given);
    if (!decl.name.startsWith(`${owner.id}.`)) throw contextErrors.foreign_name(owner.id, decl.name);
    return decl;
  };
  const register = (projection: Projection): Disposable => projections.add(owner, projection);
  return {
    // A topic keeps the format that it was opened with.
    open: (format, topic, options) => topics.open(isForeign ? frozen({ ...format }) : format, topic, options),
    publish: (format, topic, type, data) => {
      const schema = format.frames[type];
      if (!isValidated) return topics.publish(format, topic, type, data);
      const where = `A frame ${type} of ${declaredAs(format)}, published by ${owner.id}`;
      // A copy has the members of what it copies.
      const reported = isForeign ? (plainCopy(data, where) as typeof data) : data;
      if (schema) validator.check(schema, reported, where);
      topics.publish(format, topic, type, reported);
    },
    flush: (topic) => topics.flush(topic),
    letGo: (topic, token) => topics.letGo(topic, token),
    here: (topic) => topics.here(topic),
    state: (topic) => topics.state(topic),
    attach: (format, topic, after) => topics.attach(format, topic, after),
    watched: () => topics.watched(),
    // Frames of a topic were published in its format, and to that they were held.
    follow: <D extends FramesDecl>(format: D, topic: string, after?: string | number) =>
      (isForeign ? copies(topics.follow(format, topic, after)) : topics.follow(format, topic, after)) as FrameStream<FrameOf<D>>,
    final: <D extends FramesDecl>(format: D, topic: string, signal?: AbortSignal) => topics.final(format, topic, signal).then((frame) => (isForeign ? copyOf(frame) : frame)) as Promise<FrameOf<D>>,
    project: (decl, code) => {
      return register(streamProjection(named(decl), code));
    },
    answer: (decl, code) => {
      return register(answerProjection(named(decl), code));
    },
  };
};

/** All readers of a topic are given the same frames; one of another build gets its own. */
const copyOf = (frame: Frame): Frame => ({ ...frame, data: plainCopy(frame.data, `A frame ${frame.id}`) });

const copies = (frames: FrameStream<Frame>): FrameStream<Frame> => ({
  close: () => frames.close(),
  async *[Symbol.asyncIterator]() {
    for await (const frame of frames) yield copyOf(frame);
  },
});
