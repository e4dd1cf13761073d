/** The workers that walk a part of the chain: what they are given and what they give. */
import { defineWorker, type Plain, Type } from '@svc/api';

export const VerifyInput = Type.Object({
  /** Hash of the entry before. */
  prev: Type.String(),
  segments: Type.Array(
    Type.Object({
      /** Id of its first entry. */
      first: Type.Integer(),
      bodies: Type.Union([Type.String(), Type.Null()], { description: 'By line; null where they were trimmed' }),
      hashes: Type.String({ description: '64 hex digits each' }),
      /** Checkpoints that end in this segment, each as the number of its entries that it covers. */
      cuts: Type.Array(Type.Integer()),
      /** Personal details that are stored beside these entries; left out where they are not compared. */
      details: Type.Optional(Type.Array(Type.Object({ id: Type.Integer(), salt: Type.String(), detail: Type.String() }))),
    }),
  ),
});
export type VerifyInput = Plain<typeof VerifyInput>;

export const Broken = Type.Object({ id: Type.Integer({ description: 'Of the entry' }), problem: Type.String({ description: 'What is wrong, in a sentence' }) }, { 'x-name': 'BrokenAuditEntry' });
export type Broken = Plain<typeof Broken>;

export const VerifyOutput = Type.Object({
  broken: Type.Array(Broken),
  /** Hash of the last entry, as stored. */
  last: Type.String(),
  missing: Type.Array(Type.Object({ id: Type.Integer(), at: Type.String() }), { description: 'Entries whose personal details were stored and are not' }),
  explanations: Type.Array(Type.Object({ entries: Type.String(), before: Type.String() }), { description: 'What entries say of details that are missing' }),
  roots: Type.Array(Type.Object({ size: Type.Integer({ description: 'Entries that the checkpoint covers in all' }), root: Type.String({ description: 'Of its part in this segment, hex' }) })),
});
export type VerifyOutput = Plain<typeof VerifyOutput>;

export const Verify = defineWorker('audit.verify', { input: VerifyInput, output: VerifyOutput });
/** The same on the threads that stand ready for short work: each piece takes some milliseconds. */
export const VerifyBeside = defineWorker('audit.verify-beside', { input: VerifyInput, output: VerifyOutput });
