/**
 * For what no interrupt ends, because it happens within one step of a statement: comparing a text with a pattern takes
 * the product of their lengths. The longest value bounds the others.
 */
export interface SqliteBounds {
  readonly valueBytes: number;
  readonly patternBytes: number;
}

const MIB = 1_048_576;

/** A message with its pictures is one value: 32 MiB at the most (MAX_BODY_BYTES of /v1). */
export const OWN_BOUNDS: SqliteBounds = { valueBytes: 64 * MIB, patternBytes: 100 };
/** What an extension in a process of its own can send or receive at once. */
export const THIRD_PARTY_BOUNDS: SqliteBounds = { valueBytes: 4 * MIB, patternBytes: 50 };
