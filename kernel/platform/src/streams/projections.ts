/** Finds the code behind the projection that a reply names, and puts the reply's arguments in place. */
import type { Frame, FramesDecl, ProjectionDecl, Reply, TSchema } from '@svc/api';
import type { AnswerCode, StreamCode } from '@svc/api/internal';
import { streamErrors } from './errors.js';

/** What an extension registered: its declaration and the code of its kind. */
export type Projection = { readonly decl: ProjectionDecl } & ({ readonly stream: AnyStreamCode } | { readonly answer: AnyAnswerCode });

/** Code whose format and arguments are known by its declaration only. */
interface AnyStreamCode {
  preamble?(args: unknown): string | undefined;
  begin?(args: unknown): unknown;
  encode(frame: Frame, args: unknown, state: unknown): string | undefined;
  until?(frame: Frame, args: unknown): boolean;
  epilogue?(args: unknown): string | undefined;
}
interface AnyAnswerCode {
  until?(frame: Frame, args: unknown): boolean;
  answer(frame: Frame, args: unknown): Reply;
}

/** A topic carries frames of one format, and a reply the arguments that its projection declares: both are held to that where they are made. */
export const streamProjection = <D extends FramesDecl, A extends TSchema, S>(decl: ProjectionDecl<D, A>, code: StreamCode<D, A, S>): Projection => ({ decl, stream: code as AnyStreamCode });
export const answerProjection = <D extends FramesDecl, A extends TSchema>(decl: ProjectionDecl<D, A>, code: AnswerCode<D, A>): Projection => ({ decl, answer: code as AnyAnswerCode });

export interface Projections {
  encoder(name: string, args: unknown): FrameEncoder;
  answer(name: string, args: unknown): { until(frame: Frame): boolean; answer(frame: Frame): Reply };
}

export const createProjections = (find: (name: string) => Projection | undefined): Projections => {
  /** One encoder for all who watch without arguments of their own, so that a frame is encoded once. */
  const plain = new WeakMap<AnyStreamCode, FrameEncoder>();
  return {
    encoder: (name, args) => {
      const found = find(name);
      if (!found || !('stream' in found)) throw streamErrors.unknown_projection(name);
      const { stream, decl } = found;
      if (args !== undefined) return encoderOf(stream, decl.contentType, args);
      const known = plain.get(stream) ?? encoderOf(stream, decl.contentType, undefined);
      plain.set(stream, known);
      return known;
    },
    answer: (name, args) => {
      const found = find(name);
      if (!found || !('answer' in found)) throw streamErrors.unknown_projection(name);
      const { answer } = found;
      return { until: (frame) => frame.final || (answer.until?.(frame, args) ?? false), answer: (frame) => answer.answer(frame, args) };
    },
  };
};

const encoderOf = (code: AnyStreamCode, contentType: string, args: unknown): FrameEncoder => {
  const state = code.begin?.(args);
  return {
    contentType,
    preamble: code.preamble?.(args),
    encode: (frame) => code.encode(frame, args, state),
    until: (frame) => code.until?.(frame, args) ?? false,
    epilogue: code.epilogue?.(args),
  };
};

export interface FrameEncoder {
  readonly contentType: string;
  /** Sent before the first frame. */
  readonly preamble?: string | undefined;
  /** The text of one frame, or undefined to leave it out. */
  encode(frame: Frame): string | undefined;
  /** True when this frame is the last of a response, although its topic goes on. */
  until?(frame: Frame): boolean;
  /** Sent after the last frame. */
  readonly epilogue?: string | undefined;
}
