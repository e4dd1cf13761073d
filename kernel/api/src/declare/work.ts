/** Kinds of durable work, sections of settings, workers: what else an area declares once as a value. */
import type { TSchema } from '@sinclair/typebox';
import type { Declared } from './plain.js';

/** A kind of run in the journal. It belongs to the extension whose manifest names it under `kinds`. */
export interface WorkDecl<I extends TSchema = TSchema, R extends TSchema = TSchema> extends Declared {
  readonly declares: 'work';
  readonly input: I;
  readonly result: R;
}

export const defineWork = <I extends TSchema, R extends TSchema>(name: string, version: string, spec: { readonly input: I; readonly result: R }): WorkDecl<I, R> => ({
  declares: 'work',
  name,
  version,
  ...spec,
});

/** A section of config.toml, or a single key at its top (`/api_key`). The schema's defaults apply to missing values. */
export interface ConfigDecl<S extends TSchema = TSchema> {
  readonly declares: 'config';
  readonly section: string;
  readonly schema: S;
}

export const defineConfig = <S extends TSchema>(section: string, schema: S): ConfigDecl<S> => ({ declares: 'config', section, schema });

/** A pure function that runs in a thread of the pool. */
export interface WorkerDecl<I extends TSchema = TSchema, O extends TSchema = TSchema> {
  readonly declares: 'worker';
  readonly name: string;
  readonly input: I;
  readonly output: O;
}

export const defineWorker = <I extends TSchema, O extends TSchema>(name: string, spec: { readonly input: I; readonly output: O }): WorkerDecl<I, O> => ({ declares: 'worker', name, ...spec });
