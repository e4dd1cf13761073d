/** What the routes of entries work with. */
import type { Draft } from '../entries/entry-rows.js';
import type { MemoryDeps } from '../memory-deps.js';
import type { Memories } from '../memory.js';
import type { Embedding } from '../search/embedding.js';

export interface EntryRouteDeps extends MemoryDeps {
  readonly memories: Memories;
  /** Facts in what people and agents said, as extraction finds them. */
  extract(messages: ReadonlyArray<{ readonly role: string; readonly content: string }>): Array<Pick<Draft, 'content' | 'category' | 'confidence' | 'role'>>;
  llmExtraction(): boolean;
  readonly embedding: Pick<Embedding, 'kind' | 'model' | 'isResting' | 'state'>;
  reindex(ownerId: string, agentId: string): Promise<void>;
}
