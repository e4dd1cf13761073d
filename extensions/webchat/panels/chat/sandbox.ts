/** Code that a model wrote, or that reads what a model wrote, in the sandbox document of this daemon (src/sandbox.ts). */

export const SANDBOX = '/ui/sandbox.html';

/**
 * First in each document: standards mode; no WebRTC for those who only look whether there is any; Escape for the page; and links
 * that lead to places of the document itself, which its address would send to another one, or nowhere.
 */
const BEGINNING = `<!doctype html><meta charset="utf-8"><script>
for (const name of ['RTCPeerConnection', 'webkitRTCPeerConnection']) delete globalThis[name];
addEventListener('keydown', ({ key }) => key === 'Escape' && parent.postMessage('escape', '*'));
addEventListener('click', (event) => {
  const href = event.target instanceof Element ? event.target.closest('a[href]')?.getAttribute('href') : undefined;
  if (href == null || event.defaultPrevented) return;
  event.preventDefault();
  if (href.startsWith('#')) location.hash = href;
});
</script>`;

/** Puts a document into it, in place of the one before. Its origin is nobody's, so it cannot be named. */
export const showIn = (frame: HTMLIFrameElement, text: string, ports: MessagePort[] = []): void => frame.contentWindow?.postMessage({ text: BEGINNING + text }, '*', ports);

/** Whether somebody pressed Escape in it: what is in it can say so as well, and nothing else. */
export const isEscapeOf = (frame: HTMLIFrameElement | null, { source, data }: MessageEvent<unknown>): boolean => frame !== null && source === frame.contentWindow && data === 'escape';
