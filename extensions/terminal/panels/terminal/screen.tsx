/** The screen: a sandboxed document with xterm. The socket stays outside of it. */
import { useEffect, useRef } from '@svc/kit';
import fit from '@xterm/addon-fit/lib/addon-fit.js' with { type: 'text' };
import css from '@xterm/xterm/css/xterm.css' with { type: 'text' };
import xterm from '@xterm/xterm/lib/xterm.js' with { type: 'text' };
import { screenCode } from './screen-code.js';
import { t } from './words.js';

/** The page's document for what runs apart from it. */
const SANDBOX = '/ui/sandbox.html';

/** In a literal it reads the same; elsewhere in code it does not stand. */
const asScript = (code: string): string => code.replaceAll(/<(?=\/script|!--)/gi, '\\x3C');
const OWN = 'html, body { height: 100%; margin: 0; background: #000; overflow: hidden; }';
const DOCUMENT = `<!doctype html><meta charset="utf-8"><style>${css}${OWN}</style><body>${[xterm, fit, `(${screenCode.toString()})()`].map((code) => `<script>${asScript(code)}</script>`).join('')}`;

export type ScreenMessage =
  | { readonly type: 'ready' | 'resize'; readonly cols: number; readonly rows: number }
  | { readonly type: 'input'; readonly data: string }
  | { readonly type: 'taken'; readonly size: number };

export interface ScreenProps {
  /** Gives what writes to the screen. */
  onPort(port: MessagePort): void;
  onMessage(message: ScreenMessage): void;
}

export const Screen = ({ onPort, onMessage }: ScreenProps) => {
  const frame = useRef<HTMLIFrameElement>(null);
  const listener = useRef(onMessage);
  listener.current = onMessage;
  const begin = (): void => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = ({ data }: MessageEvent<ScreenMessage>) => listener.current(data);
    frame.current?.contentWindow?.postMessage({ text: DOCUMENT }, '*', [port2]);
    onPort(port1);
  };
  useEffect(() => () => frame.current?.remove(), []);
  return <iframe ref={frame} class="terminal-screen" title={t('screen')} src={SANDBOX} sandbox="allow-scripts" referrerpolicy="no-referrer" onLoad={begin} />;
};
