/** What a conversation needs soon, and not before one can type. */

const QUIET_MS = 400;
/** Should no conversation open. */
const AT_LATEST_MS = 3_000;

let notifyTyped: () => void = () => undefined;
const canType = new Promise<void>((resolve) => {
  notifyTyped = resolve;
});

/** There is a field to type in. */
export const nowOneCanType = (): void => notifyTyped();

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Not every browser tells when it has nothing to do. */
const idle = (): Promise<void> => new Promise((resolve) => ('requestIdleCallback' in globalThis ? void requestIdleCallback(() => resolve(), { timeout: AT_LATEST_MS }) : resolve()));

/** Resolves when one could type for a moment, and the page has nothing else to do. */
const quiet: Promise<void> = Promise.race([canType.then(() => pause(QUIET_MS)), pause(AT_LATEST_MS)]).then(idle);
export const whenQuiet = (): Promise<void> => quiet;
