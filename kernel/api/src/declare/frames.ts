/** Formats of streams, and the projections by which frames leave on a protocol. Both are declared once and named ever after. */
import type { TSchema } from '@sinclair/typebox';
import type { Reply } from '../http/reply.js';
import { type Declared, frozen, type Plain } from './plain.js';

/** The frame types of a topic, by name. */
export interface FramesDecl<F extends Readonly<Record<string, TSchema>> = Readonly<Record<string, TSchema>>> extends Declared {
  readonly declares: 'frames';
  readonly frames: F;
  /** Types that end a topic. */
  readonly final: readonly string[];
  /**
   * Types whose frames may be joined while they wait to be sent, by the member that holds their text: the first goes
   * out at once, later ones together every 40 to 50 ms.
   */
  readonly joins: Readonly<Record<string, string>>;
}

export const defineFrames = <F extends Readonly<Record<string, TSchema>>>(
  name: string,
  version: string,
  spec: { readonly frames: F; readonly final: readonly (keyof F & string)[]; readonly joins?: { readonly [T in keyof F & string]?: string } },
): FramesDecl<F> => {
  const joins: Record<string, string> = {};
  for (const [type, member] of Object.entries(spec.joins ?? {})) if (member !== undefined) joins[type] = member;
  return frozen({ declares: 'frames', name, version, frames: spec.frames, final: spec.final, joins });
};

/** Data of a frame by its type: `FrameData<typeof RunFrames>['chunk']`. */
export type FrameData<D extends FramesDecl> = { readonly [T in keyof D['frames'] & string]: Plain<D['frames'][T]> };

/** One numbered piece of a stream. `id` is `<topic>.<attempt>.<seq>`. */
export interface Numbered {
  readonly id: string;
  readonly seq: number;
  readonly attempt: number;
  /** The last frame of the topic: exactly one. */
  readonly final: boolean;
}

/** A frame as the platform carries it: of some declared format. */
export interface Frame extends Numbered {
  readonly type: string;
  readonly data: unknown;
}

/** A frame of one format: looking at `type` tells what `data` is. */
export type FrameOf<D extends FramesDecl> = { [T in keyof D['frames'] & string]: Numbered & { readonly type: T; readonly data: Plain<D['frames'][T]> } }[keyof D['frames'] & string];

/** How frames of one format look on one protocol. What a reply names; the code is registered by its owner. */
export interface ProjectionDecl<D extends FramesDecl = FramesDecl, A extends TSchema = TSchema> extends Declared {
  readonly declares: 'projection';
  readonly kind: 'stream' | 'answer';
  readonly format: D;
  /** What varies from one use to the next; plain data. */
  readonly args: A;
  readonly contentType: string;
}

export type StreamProjection<D extends FramesDecl = FramesDecl, A extends TSchema = TSchema> = ProjectionDecl<D, A> & { readonly kind: 'stream' };
export type AnswerProjection<D extends FramesDecl = FramesDecl, A extends TSchema = TSchema> = ProjectionDecl<D, A> & { readonly kind: 'answer' };

/** Frames become the text of a stream: SSE, or messages of a socket. */
export const defineStreamProjection = <D extends FramesDecl, A extends TSchema>(
  name: string,
  version: string,
  spec: { readonly format: D; readonly contentType: string; readonly args: A },
): StreamProjection<D, A> => ({ declares: 'projection', name, version, kind: 'stream', ...spec });

/** One frame becomes a whole reply. */
export const defineAnswerProjection = <D extends FramesDecl, A extends TSchema>(name: string, version: string, spec: { readonly format: D; readonly args: A }): AnswerProjection<D, A> => ({
  declares: 'projection',
  name,
  version,
  kind: 'answer',
  contentType: 'application/json',
  ...spec,
});

/** Must be pure: it may outlive the generation that registered it. What one response must remember from frame to frame is its state. */
export interface StreamCode<D extends FramesDecl, A extends TSchema, S = undefined> {
  /** The state of one response, for protocols whose events count or repeat what came before. Only for projections with arguments. */
  begin?(args: Plain<A>): S;
  /** Sent before the first frame. */
  preamble?(args: Plain<A>): string | undefined;
  /** The text of one frame, or undefined to leave it out. */
  encode(frame: FrameOf<D>, args: Plain<A>, state: S): string | undefined;
  /** True when this frame is the last of a response, although its topic goes on. The final one always is. Sockets ignore it. */
  until?(frame: FrameOf<D>, args: Plain<A>): boolean;
  /** Sent after the last frame. */
  epilogue?(args: Plain<A>): string | undefined;
}

/** Must be pure: it may outlive the generation that registered it. */
export interface AnswerCode<D extends FramesDecl, A extends TSchema> {
  /** True when this frame is the one to answer with; the final one always is. Left out, only that one. */
  until?(frame: FrameOf<D>, args: Plain<A>): boolean;
  /** May throw an error to be answered. */
  answer(frame: FrameOf<D>, args: Plain<A>): Reply;
}
