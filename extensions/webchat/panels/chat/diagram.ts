/**
 * Pictures of Mermaid diagrams.
 *
 * G1  The library and what it makes stay in the sandbox document. The page shows an image: what a model wrote runs nothing, loads
 *     nothing and leads nowhere.
 * G2  What is too large is not drawn, and what takes too long is given up, with the frame that draws it.
 */
import { contrast, daemon, isDark } from '@svc/kit';
import type { DiagramAnswer, DiagramRequest } from '../../page/diagram-messages.js';
import { SANDBOX, showIn } from './sandbox.js';

/** Loaded with the first diagram, and by nobody else. */
const LIBRARY = 'diagrams.js';
const MAX_CHARS = 20_000;
const MAX_SVG_CHARS = 2_000_000;
const MAX_PX = 12_000;
const DRAWN_AFTER_MS = 10_000;
/** From a slow line it takes longer. */
const READY_AFTER_MS = 30_000;
const MAX_KEPT = 40;

export interface Diagram {
  /** A data: address of an SVG. */
  readonly url: string;
  readonly width: number;
  readonly height: number;
}

interface Drawer {
  readonly port: MessagePort;
  readonly frame: HTMLIFrameElement;
}

/** In a literal it reads the same; elsewhere in code it does not stand. */
const asScript = (code: string): string => code.replaceAll(/<(?=\/script|!--)/gi, '\\x3C');

const begin = async (): Promise<Drawer> => {
  const code = await daemon.call('getPageFile', { asset: LIBRARY });
  const frame = document.createElement('iframe');
  frame.sandbox.add('allow-scripts');
  frame.className = 'diagram-drawer';
  frame.title = 'Mermaid';
  frame.tabIndex = -1;
  frame.ariaHidden = 'true';
  frame.src = SANDBOX;
  const { port1: port, port2 } = new MessageChannel();
  const ready = within(READY_AFTER_MS, (resolve) => {
    port.onmessage = resolve;
  });
  frame.addEventListener('load', () => showIn(frame, `<body><script type="module">${asScript(code)}</script>`, [port2]), { once: true });
  document.body.append(frame);
  try {
    await ready;
    return { port, frame };
  } catch (error) {
    frame.remove();
    throw error;
  }
};

const within = <T>(ms: number, begun: (resolve: (value: T) => void) => void): Promise<T> =>
  new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error('The diagram takes too long.')), ms);
    begun((value) => {
      clearTimeout(timer);
      resolve(value);
    });
  });

let drawer: Promise<Drawer> | undefined;

const end = async (): Promise<void> => {
  const ended = drawer;
  drawer = undefined;
  const { port, frame } = (await ended?.catch(() => undefined)) ?? {};
  port?.close();
  frame?.remove();
};

const asked = ({ port }: Drawer, request: DiagramRequest): Promise<DiagramAnswer> =>
  within(DRAWN_AFTER_MS, (resolve) => {
    port.onmessage = ({ data }: MessageEvent<DiagramAnswer>) => {
      if (data?.id === request.id) resolve(data);
    };
    port.postMessage(request);
  });

let requests = 0;

const requestOf = (text: string): DiagramRequest => {
  const style = getComputedStyle(document.documentElement);
  const colour = (name: string): string => style.getPropertyValue(`--${name}`).trim();
  return {
    id: ++requests,
    text,
    maxChars: MAX_CHARS,
    isDark: isDark.peek(),
    fontFamily: style.fontFamily,
    colours: {
      surface: colour('surface'),
      sunk: colour('sunk'),
      text: colour('text'),
      muted: colour('muted'),
      edge: colour('edge-strong'),
      accent: colour('accent'),
      accentSoft: colour('accent-soft'),
    },
  };
};

const drawNow = async (text: string): Promise<Diagram> => {
  drawer ??= begin();
  try {
    const answer = await asked(await drawer, requestOf(text));
    if ('fault' in answer) throw new SyntaxError(answer.fault);
    const { svg, width, height } = answer;
    if (svg.length > MAX_SVG_CHARS || width > MAX_PX || height > MAX_PX) throw new SyntaxError('The diagram is too large.');
    return { url: `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`, width, height };
  } catch (error) {
    // It was the diagram's fault, and the next one can be drawn.
    if (!(error instanceof SyntaxError)) await end();
    throw error;
  }
};

/** By look and text, oldest first. */
const kept = new Map<string, Promise<Diagram>>();
let last: Promise<unknown> = Promise.resolve();

/** One after the other. Rejects where it cannot be drawn; tries again what failed because something was away. */
export const diagramOf = (text: string): Promise<Diagram> => {
  if (text.length > MAX_CHARS) return Promise.reject(new SyntaxError('The diagram is too large.'));
  const key = `${isDark.peek()} ${contrast.peek()} ${text}`;
  const known = kept.get(key);
  if (known) return known;
  const drawing = last.then(() => drawNow(text));
  last = drawing.catch((error: unknown) => {
    if (!(error instanceof SyntaxError)) kept.delete(key);
  });
  kept.set(key, drawing);
  for (const oldest of [...kept.keys()].slice(0, Math.max(0, kept.size - MAX_KEPT))) kept.delete(oldest);
  return drawing;
};
