/**
 * What waits for a person, counted as the panels declare it, and told by the browser where they allowed that.
 * Loaded after the first drawing.
 *
 * Q1  A count is asked for again after its live event, at most once within some seconds; a count that fails stays as it was.
 * Q2  The browser tells what grew while the page was not looked at, with the name of the panel and the number, and no content.
 */
import { askAsIs } from '@svc/client/as-is';
import { go, keep, kept, language, notify, useChanges, useEffect, useRef } from '@svc/kit';
import { notifying, shownPanel, waiting } from './hubs.js';
import { type Panel, panels } from './panels.js';
import { t } from './shell-words.js';

type Waiting = NonNullable<Panel['waiting']>;

const AGAIN_MS = 3_000;
const ANSWER_MS = 10_000;
const KEPT = 'svc.notify';
const LOOKED = 'svc.looked.';

/** Asks the person when it is switched on for the first time; a refusal leaves it off. */
const switchNotifying = async (): Promise<void> => {
  const isOn = notifying.peek()?.isOn !== true && (await Notification.requestPermission()) === 'granted';
  keep(KEPT, isOn ? 'yes' : null);
  if (!isOn && Notification.permission === 'denied') notify(t('notify_denied'));
  offerNotifying(isOn);
};

const offerNotifying = (isOn: boolean): void => {
  notifying.value = { isOn, onSwitch: switchNotifying };
};

if (typeof Notification !== 'undefined') offerNotifying(Notification.permission === 'granted' && kept(KEPT) !== null);

const show = (panel: Panel, count: number): void => {
  try {
    const shown = new Notification(`${panel.title[language.peek()]}: ${count}`, { tag: panel.id, icon: '/ui/icon-192.png' });
    shown.onclick = () => {
      focus();
      go(panel.id);
      shown.close();
    };
  } catch {
    notifying.value = undefined; // phones want a service worker for it
  }
};

/** When the panel was looked at last; the first time, now: what happened before anybody looked does not wait. */
const lookedAt = (id: string): string => kept(LOOKED + id) ?? looked(id);
const looked = (id: string): string => {
  const now = new Date().toISOString();
  keep(LOOKED + id, now);
  return now;
};

const countOf = async ({ id }: Panel, { path, count, since }: Waiting): Promise<number | undefined> => {
  const address = since ? `${path}${path.includes('?') ? '&' : '?'}since=${encodeURIComponent(lookedAt(id))}` : path;
  const { status, body } = await askAsIs({ method: 'GET', address, signal: AbortSignal.timeout(ANSWER_MS) });
  const value = status === 200 && typeof body === 'object' && body !== null ? (body as Record<string, unknown>)[count] : undefined; // an object, as was asked
  return Array.isArray(value) ? value.length : typeof value === 'number' ? value : undefined;
};

const countAgain = async (panel: Panel, declared: Waiting): Promise<void> => {
  // Who looks at it sees it there.
  if (declared.since && shownPanel()?.id === panel.id) return;
  const count = await countOf(panel, declared).catch(() => undefined);
  const before = waiting.peek()[panel.id];
  if (count === undefined || count === before) return;
  waiting.value = { ...waiting.peek(), [panel.id]: count };
  if (before !== undefined && count > before && document.hidden && notifying.peek()?.isOn) show(panel, count);
};

const CountOne = ({ panel, declared }: { panel: Panel; declared: Waiting }) => {
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => {
    void countAgain(panel, declared);
    return () => clearTimeout(timer.current);
  }, [panel.id]);
  useChanges([declared.event], (change) => {
    // Of the work that goes on, only what ended can wait for somebody.
    if (declared.since && change?.state !== undefined && change.state !== 'failed') return;
    timer.current ??= setTimeout(() => {
      timer.current = undefined;
      void countAgain(panel, declared);
    }, AGAIN_MS);
  });
  const isOpen = shownPanel()?.id === panel.id;
  useEffect(() => {
    if (!declared.since || !isOpen) return undefined;
    looked(panel.id);
    waiting.value = { ...waiting.peek(), [panel.id]: 0 };
    return () => void looked(panel.id);
  }, [isOpen]);
  return null;
};

/** Counts for as long as the page is open; draws nothing. */
export const Waiting = () => <>{(panels.value ?? []).map((panel) => panel.waiting && <CountOne key={panel.id} panel={panel} declared={panel.waiting} />)}</>;
