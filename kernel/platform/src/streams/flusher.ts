/**
 * One timer for all topics that join text. It runs on real time, also where the clock is
 * virtual: how often a socket is written to is a matter of the wire, not of the work.
 */
import type { Topic } from './topic.js';

const MERGE_MS = 45;
/** Topics due within this long are sent together, so that many streams do not mean many timers. */
const SLACK_MS = 5;

export class Flusher {
  readonly #joining = new Set<Topic>();
  #timer: NodeJS.Timeout | undefined;

  /** True when the text must wait; false when it is the first and goes out at once. */
  joins(topic: Topic): boolean {
    if (topic.dueAt !== 0) return true;
    topic.dueAt = performance.now() + MERGE_MS;
    this.#joining.add(topic);
    this.#timer ??= setTimeout(() => this.#run(), MERGE_MS);
    return false;
  }

  forget(topic: Topic): void {
    topic.dueAt = 0;
    this.#joining.delete(topic);
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#joining.clear();
  }

  #run(): void {
    this.#timer = undefined;
    const now = performance.now();
    let earliest = Number.POSITIVE_INFINITY;
    for (const topic of this.#joining) {
      if (topic.dueAt <= now + SLACK_MS) {
        // Nothing came for a whole window: the next text is a first one again.
        if (topic.release()) topic.dueAt = now + MERGE_MS;
        else this.forget(topic);
      }
      if (topic.dueAt !== 0) earliest = Math.min(earliest, topic.dueAt);
    }
    if (this.#joining.size > 0) this.#timer = setTimeout(() => this.#run(), Math.max(1, earliest - now));
  }
}
