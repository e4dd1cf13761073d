/** Which results are stored, and what the model reads of them at first. */
import type { ToolOutput } from '@svc/api';
import { type CallRequest, READ_ARTIFACT } from '../contract.js';
import { withoutHalf } from '../result-size.js';
import type { Artifacts, StoredArtifact } from './artifacts.js';

export interface Spilling {
  readonly artifacts: Artifacts;
  /** `[tool_results] spill_threshold_bytes`. */
  readonly threshold: () => number;
}

/** Of what may be shown in one piece, the share that the model sees at first. */
const HEAD_SHARE = 4;

/** A call of a run; a direct call has nobody who could read on. */
export const isSpilled = ({ threshold }: Spilling, { name, call }: CallRequest, { content }: ToolOutput): boolean =>
  call.runId !== '' && call.agentId !== '' && name !== READ_ARTIFACT && (content.length > threshold() || (content.length * 3 > threshold() && Buffer.byteLength(content) > threshold()));

/** Its beginning. A UTF-16 unit has three bytes at most. */
export const headOf = ({ threshold }: Spilling, content: string): string => {
  const bytes = Math.floor(threshold() / HEAD_SHARE);
  const start = content.slice(0, bytes);
  return withoutHalf(Buffer.byteLength(start) <= bytes ? start : start.slice(0, Math.floor(bytes / 3)));
};

/** What stands behind the head: how much there is, and how to read on. */
export const noteOf = (head: string, { id, bytes, chars, totalChars }: StoredArtifact): string =>
  `\n\n[This is the start of the result: characters 0 to ${head.length} of ${totalChars}. ${chars < totalChars ? `The first ${chars} characters (${bytes} bytes) are stored` : `All of it (${bytes} bytes) is stored`} as ${id}. Read on with read_artifact {"handle": "${id}", "offset": ${head.length}}.]`;
