/** A third party's panel: in a frame that has nothing of the page, and beside it whose it is. */
import { Empty, go, Icon, isDark, language, Loading, useChanges, useEffect, useRef, useState } from '@svc/kit';
import type { FrameGreeting, FrameNow } from '@svc/client/frame';
import { type Host, hostFrame } from './frame-host.js';
import type { Panel } from './panels.js';
import { t } from './framed-words.js';

const FIRST_HEIGHT_PX = 240;

const nowOf = (path: readonly string[]): FrameNow => ({ theme: isDark.value ? 'dark' : 'light', language: language.value, path });

export const Framed = ({ panel, path }: { panel: Panel; path: readonly string[] }) => {
  const [height, setHeight] = useState(FIRST_HEIGHT_PX);
  const [state, setState] = useState<'loading' | 'open' | 'flooded' | 'left'>('loading');
  const host = useRef<Host>(undefined);
  const now = nowOf(path);
  const latest = useRef(now);
  latest.current = now;
  useEffect(() => host.current?.notify(now), [now.theme, now.language, path.join('/')]);
  useChanges(panel.frame?.events ?? [], (change) =>
    host.current?.changed(change ? { what: change.what, ...(change.id === undefined ? {} : { id: change.id }), ...(change.state === undefined ? {} : { state: change.state }) } : null),
  );
  useEffect(() => () => host.current?.close(), []);
  const loaded = (frame: HTMLIFrameElement): void => {
    // A second document in it is not the one that the daemon gave it.
    if (host.current) {
      host.current.close();
      setState('left');
      return;
    }
    const { port1, port2 } = new MessageChannel();
    host.current = hostFrame({
      port: port1,
      routes: panel.frame?.routes ?? [],
      onHeight: setHeight,
      onGo: (to) => go(panel.id, to),
      onFlood: () => setState('flooded'),
    });
    // Its origin is nobody's, so it cannot be named; the port is of use to this one document alone.
    frame.contentWindow?.postMessage({ svc: 'panel', now: latest.current } satisfies FrameGreeting, '*', [port2]);
    setState('open');
  };
  const title = panel.title[language.value];
  return (
    <div class="panel-body framed-panel">
      <h1 class="off-screen">{title}</h1>
      <p class="muted small-text framed-note">
        <Icon name="shield-check" size={16} />
        {t('framed', { extension: panel.extension })}
      </p>
      {state === 'loading' && <Loading label={t('loading')} />}
      {state === 'flooded' || state === 'left' ? (
        <Empty icon="circle-alert" title={t('broken')}>
          <p>{t(state === 'flooded' ? 'floods' : 'left', { extension: panel.extension })}</p>
        </Empty>
      ) : (
        <iframe
          class="panel-frame"
          title={title}
          src={`/ui/frames/${encodeURIComponent(panel.extension)}/${encodeURIComponent(panel.id)}`}
          sandbox="allow-scripts"
          referrerpolicy="no-referrer"
          style={{ height: `${height}px` }}
          onLoad={(event) => loaded(event.currentTarget)}
        />
      )}
    </div>
  );
};
