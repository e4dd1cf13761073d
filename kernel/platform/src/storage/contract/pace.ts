/** The pace of long work beside people who wait, such as a backup of a daemon that works: a third of the time is its own. */

/** Of the time that a piece of work took. */
export const PAUSE_PER_WORK = 2;
const MAX_PAUSE_MS = 100;

/** How long to pause after a piece of work. */
export const pauseFor = (workMs: number): number => Math.min(MAX_PAUSE_MS, workMs * PAUSE_PER_WORK);
